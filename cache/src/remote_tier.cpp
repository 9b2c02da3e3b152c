#include "remote_tier.hpp"

#include <memory>
#include <string_view>
#include <utility>

#include "entry_format.hpp"

namespace tilejit::cache {
namespace {

RemoteOptions verifying(RemoteOptions options, Identity identity) {
  options.verify = [identity = std::move(identity)](std::string_view key, std::string_view file) {
    const auto lengths = verify_entry(file);
    return lengths && is_of(identity, key, file.substr(lengths->payload, lengths->metadata));
  };
  return options;
}

}  // namespace

RemoteTier::RemoteTier(RemoteOptions options, Identity identity)
    : store_(verifying(std::move(options), std::move(identity))) {}

// A download that is not an entry, or belongs to another key, is reported as `unavailable` here and
// counted as damaged by the store.
ReadResult RemoteTier::read(const std::string& key) {
  RemoteAnswer answer = store_.get(key);
  if (answer.status == RemoteStatus::miss) return {};
  if (answer.status == RemoteStatus::unavailable) return {Status::failed};
  const std::size_t trailer_at = answer.bytes.size() - kTrailerBytes;
  const auto lengths =
      parse_trailer(std::string_view(answer.bytes).substr(trailer_at), answer.bytes.size());
  auto entry = std::make_shared<Entry>();
  entry->metadata.assign(answer.bytes, lengths->payload, lengths->metadata);
  entry->payload = std::move(answer.bytes);
  entry->payload.resize(lengths->payload);
  return {Status::hit, std::move(entry)};
}

// A server has no markers, only entries.
std::vector<std::string> RemoteTier::markers(const std::string&) {
  return {};
}

void RemoteTier::publish(const std::string& key, const Entry& entry) {
  if (store_.mode() == RemoteMode::read_write) (void)store_.put(key, encode_entry(entry));
}

}  // namespace tilejit::cache
