#include "remote_tier.hpp"

#include <memory>
#include <string_view>
#include <utility>

#include "entry_format.hpp"

namespace tilejit::cache {
namespace {

RemoteOptions verifying(RemoteOptions options) {
  options.verify = [](std::string_view file) { return verify_entry(file).has_value(); };
  return options;
}

}  // namespace

RemoteTier::RemoteTier(RemoteOptions options) : store_(verifying(std::move(options))) {}

// A download that is no entry is `unavailable` to us, and counted as damaged there.
ReadResult RemoteTier::read(const std::string& key) {
  RemoteAnswer answer = store_.get(key);
  if (answer.status == RemoteStatus::miss) return {};
  if (answer.status == RemoteStatus::unavailable) return {Status::failed};
  const auto lengths = verify_entry(answer.bytes);
  if (!lengths) return {Status::damaged};
  auto entry = std::make_shared<Entry>();
  entry->metadata.assign(answer.bytes, lengths->payload, lengths->metadata);
  entry->payload = std::move(answer.bytes);
  entry->payload.resize(lengths->payload);
  return {Status::hit, std::move(entry)};
}

// A server has entries alone.
std::vector<std::string> RemoteTier::markers(const std::string&) {
  return {};
}

void RemoteTier::publish(const std::string& key, const Entry& entry) {
  if (store_.mode() == RemoteMode::read_write) (void)store_.put(key, encode_entry(entry));
}

}  // namespace tilejit::cache
