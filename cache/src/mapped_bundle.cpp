#include "mapped_bundle.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "entry_format.hpp"
#include "names.hpp"
#include "tree.hpp"

namespace tilejit::cache {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw std::runtime_error("the bundle " + path + " cannot be used: " + why);
}

}  // namespace

MappedBundle::MappedBundle(const std::string& path, Trust trust,
                           const std::optional<PublicKey>& signer)
    : path_(path) {
  map(trust);
  const auto parts = parse_bundle(file_);
  if (!parts) {
    fail(path_, file_.empty() || file_.substr(0, 8) != bundle_head().substr(0, 8)
                    ? "it is not a bundle"
                    : "it is cut short, damaged, or of another format version");
  }
  parts_ = *parts;
  if (!signer) return;
  if (!parts_.is_signed) fail(path_, "it is not signed");
  if (!is_bundle_signed_by(file_, *signer) || !verify_bundle_index(file_, parts_)) {
    fail(path_, "its signature is not of the key " + to_string(*signer));
  }
}

MappedBundle::~MappedBundle() {
  if (!file_.empty()) ::munmap(const_cast<char*>(file_.data()), file_.size());
}

void MappedBundle::map(Trust trust) {
  fd_ = UniqueFd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info;
  if (!fd_.valid() || ::fstat(fd_.get(), &info) != 0) fail(path_, describe(errno));
  if (!S_ISREG(info.st_mode)) fail(path_, "it is no regular file");
  if (trust == Trust::own && !is_own(info, ::geteuid())) fail(path_, describe(kRefused));
  if (info.st_size == 0) return;
  const auto size = static_cast<std::size_t>(info.st_size);
  void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd_.get(), 0);
  if (memory == MAP_FAILED) fail(path_, describe(errno));
  file_ = {static_cast<const char*>(memory), size};
}

bool MappedBundle::still_whole() const noexcept {
  struct stat info;
  return ::fstat(fd_.get(), &info) == 0 && static_cast<std::size_t>(info.st_size) >= file_.size();
}

std::string_view MappedBundle::record_at(std::uint64_t i) const noexcept {
  return file_.substr(parts_.index_at + i * kRecordBytes, kRecordBytes);
}

std::optional<std::string_view> MappedBundle::find_record(const Digest& key) const noexcept {
  std::uint64_t first = 0, last = parts_.entries;
  while (first < last) {
    const std::uint64_t middle = first + (last - first) / 2;
    const int order = std::memcmp(record_at(middle).data(), key.data(), key.size());
    if (order == 0) return record_at(middle);
    (order < 0 ? first : last) = order < 0 ? middle + 1 : middle;
  }
  return std::nullopt;
}

std::string_view MappedBundle::file_of(const Record& record) const noexcept {
  if (record.offset < kBundleHeadBytes || record.offset > parts_.index_at ||
      record.bytes > parts_.index_at - record.offset) {
    return {};
  }
  return file_.substr(record.offset, record.bytes);
}

ReadResult MappedBundle::read(const std::string& key) const {
  if (!still_whole()) return {Status::failed};
  const auto found = find_record(from_hex(key));
  if (!found) return {};
  const auto record = decode_record(*found);
  if (!record) return {Status::damaged};
  const std::string_view file = file_of(*record);
  const auto lengths = verify_entry(file);
  if (!lengths || std::memcmp(file.data() + file.size() - sizeof(Digest), record->digest.data(),
                              sizeof(Digest)) != 0) {
    return {Status::damaged};
  }
  auto entry = std::make_shared<Entry>();
  entry->payload = file.substr(0, lengths->payload);
  entry->metadata = file.substr(lengths->payload, lengths->metadata);
  return {Status::hit, std::move(entry)};
}

std::string_view MappedBundle::whole_file(const std::string& key,
                                          std::optional<EntryLengths>& lengths) const {
  if (!still_whole()) return {};
  const auto found = find_record(from_hex(key));
  const auto record = found ? decode_record(*found) : std::nullopt;
  const std::string_view file = record ? file_of(*record) : std::string_view();
  if (file.size() < kTrailerBytes) return {};
  lengths = parse_trailer(file.substr(file.size() - kTrailerBytes), file.size());
  return file;
}

bool MappedBundle::has(const std::string& key) const {
  std::optional<EntryLengths> lengths;
  (void)whole_file(key, lengths);
  return lengths.has_value();
}

std::optional<std::string> MappedBundle::metadata(const std::string& key) const {
  std::optional<EntryLengths> lengths;
  const std::string_view file = whole_file(key, lengths);
  if (!lengths) return std::nullopt;
  return std::string(file.substr(lengths->payload, lengths->metadata));
}

std::string_view MappedBundle::marker_text() const noexcept {
  return still_whole() ? file_.substr(parts_.markers_at(), parts_.marker_bytes)
                       : std::string_view();
}

std::vector<std::string> MappedBundle::markers(const std::string& kind) const {
  std::vector<std::string> names;
  std::string_view text = marker_text();
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t slash = line.find('/');
    if (slash == kind.size() && line.starts_with(kind)) names.emplace_back(line.substr(slash + 1));
  }
  return names;
}

void MappedBundle::each(const std::function<void(const Record&)>& see) const {
  for (std::uint64_t i = 0; i < parts_.entries && still_whole(); ++i) {
    if (const auto record = decode_record(record_at(i))) see(*record);
  }
}

// No byte between the head and the index belongs to no entry, or to two.
bool MappedBundle::entries_fill_the_file(std::vector<Record> records) const {
  std::sort(records.begin(), records.end(),
            [](const Record& a, const Record& b) { return a.offset < b.offset; });
  std::uint64_t at = kBundleHeadBytes;
  for (const Record& record : records) {
    if (record.offset != at || record.bytes > parts_.index_at - at) return false;
    at += record.bytes;
  }
  return at == parts_.index_at;
}

VerifyReport MappedBundle::verify() const {
  VerifyReport report;
  std::vector<Record> records;
  bool sound = still_whole() && verify_bundle_index(file_, parts_);
  if (parts_.is_signed) sound = sound && is_bundle_signed_by(file_, bundle_signer(file_));
  each([&](const Record& record) {
    sound = sound && (records.empty() || records.back().key < record.key);
    records.push_back(record);
    const std::string key = to_hex(record.key);
    if (read(key).entry) {
      ++report.good;
    } else {
      report.damaged.push_back(key);
    }
  });
  sound = sound && records.size() == parts_.entries && entries_fill_the_file(std::move(records));
  if (!sound) report.damaged.push_back(path_);
  return report;
}

std::optional<PublicKey> MappedBundle::signer() const {
  return parts_.is_signed ? std::optional(bundle_signer(file_)) : std::nullopt;
}

}  // namespace tilejit::cache
