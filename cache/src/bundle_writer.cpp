#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <stdexcept>
#include <utility>

#include "bundle_format.hpp"
#include "names.hpp"
#include "posix_file.hpp"
#include "tilejit/cache/bundle.hpp"
#include "tree.hpp"

namespace tilejit::cache {
namespace fs = std::filesystem;

struct BundleWriter::Impl {
  explicit Impl(const fs::path& where)
      : path(fs::absolute(where)),
        folder(open_file(path.parent_path().string(), O_RDONLY | O_DIRECTORY)),
        file(folder.get(), path.filename().string()) {
    check(folder.valid() ? 0 : errno);
    check(file.create());
    append(bundle_head());
  }

  void append(std::string_view bytes) {
    check(file.append(bytes));
    written += bytes.size();
  }
  void check(int error) const {
    if (error == 0) return;
    throw std::runtime_error("the bundle " + path.string() +
                             " cannot be written: " + describe(error));
  }

  fs::path path;
  UniqueFd folder;
  AtomicFile file;
  std::uint64_t written = 0;
  std::map<Digest, Record> records;
  std::string markers;
};

BundleWriter::BundleWriter(const fs::path& path) : impl_(std::make_unique<Impl>(path)) {}
BundleWriter::~BundleWriter() = default;

bool BundleWriter::add(const std::string& key, const Entry& entry) {
  check_key(key);
  Record record = {.key = from_hex(key), .offset = impl_->written};
  if (impl_->records.contains(record.key)) return false;
  const std::string bytes = encode_entry(entry);
  impl_->append(bytes);
  record.bytes = bytes.size();
  std::memcpy(record.digest.data(), bytes.data() + bytes.size() - sizeof(Digest), sizeof(Digest));
  impl_->records.emplace(record.key, record);
  return true;
}

void BundleWriter::add_marker(const std::string& kind, const std::string& name) {
  check_kind(kind);
  check_marker(name);
  const std::string line = kind + '/' + name + '\n';
  if (line.size() > kMostMarkerBytes - impl_->markers.size()) {
    throw std::runtime_error("the bundle " + impl_->path.string() +
                             " cannot be written: its markers are more than 64 KiB; remove old "
                             "ones from the cache folder");
  }
  impl_->markers += line;
}

void BundleWriter::finish(const std::string& private_key) {
  const BundleParts parts{.entries = impl_->records.size(),
                          .index_at = impl_->written,
                          .marker_bytes = impl_->markers.size(),
                          .is_signed = !private_key.empty()};
  std::string body;
  body.reserve(parts.entries * kRecordBytes + parts.marker_bytes);
  for (const auto& [key, record] : impl_->records) body += encode_record(record);
  body += impl_->markers;
  const std::string trailer = encode_bundle_trailer(parts, body, private_key);
  impl_->append(body);
  impl_->append(trailer);
  impl_->check(impl_->file.sync());
  impl_->check(impl_->file.commit());
  (void)::fsync(impl_->folder.get());
}

}  // namespace tilejit::cache
