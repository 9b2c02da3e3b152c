#include "tilejit/cache/bundle.hpp"

#include <utility>

#include "bundle_impl.hpp"
#include "names.hpp"

namespace tilejit::cache {

Bundle::Bundle(const std::filesystem::path& path, Trust trust,
               const std::optional<PublicKey>& signer, Identity identity)
    : impl_(std::make_unique<Impl>(path, trust, signer, std::move(identity))) {}
Bundle::~Bundle() = default;
Bundle::Bundle(Bundle&&) noexcept = default;
Bundle& Bundle::operator=(Bundle&&) noexcept = default;

std::vector<EntryInfo> Bundle::list() const {
  std::vector<EntryInfo> entries;
  impl_->file.each([&](const Record& record) {
    entries.push_back({.key = to_hex(record.key), .bytes = record.bytes});
  });
  return entries;
}

std::optional<Entry> Bundle::read(const std::string& key) const {
  check_key(key);
  const EntryPtr entry = impl_->file.read(key).entry;
  return entry ? std::optional(*entry) : std::nullopt;
}

std::optional<std::string> Bundle::metadata(const std::string& key) const {
  check_key(key);
  return impl_->file.metadata(key);
}

std::vector<std::string> Bundle::markers(const std::string& kind) const {
  check_kind(kind);
  return impl_->file.markers(kind);
}

VerifyReport Bundle::verify() const {
  return impl_->file.verify();
}

std::optional<PublicKey> Bundle::signer() const {
  return impl_->file.signer();
}

const std::filesystem::path& Bundle::path() const noexcept {
  return impl_->path;
}

std::string to_string(const PublicKey& key) {
  return to_hex(key);
}

}  // namespace tilejit::cache
