#include "bundle_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "names.hpp"
#include "tree.hpp"

namespace tilejit::cache {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw std::runtime_error("the bundle " + path + " cannot be used: " + why);
}

}  // namespace

BundleFile::BundleFile(const std::string& path, Trust trust, const std::optional<PublicKey>& signer,
                       Identity identity)
    : path_(path), identity_(std::move(identity)) {
  read_parts(open(trust));
  if (!signer) return;
  if (!parts_.is_signed) fail(path_, "it is not signed");
  if (!is_bundle_signed_by(tail_, *signer) || !verify_bundle_index(tail_, parts_)) {
    fail(path_, "its signature is not of the key " + to_string(*signer));
  }
}

std::uint64_t BundleFile::open(Trust trust) {
  fd_ = open_file(path_, O_RDONLY | O_NONBLOCK);
  struct stat info;
  if (!fd_.valid() || ::fstat(fd_.get(), &info) != 0) fail(path_, describe(errno));
  if (!S_ISREG(info.st_mode)) fail(path_, "it is no regular file");
  if (trust == Trust::own && !is_own(info, ::geteuid())) fail(path_, describe(kRefused));
  return static_cast<std::uint64_t>(info.st_size);
}

void BundleFile::read_parts(std::uint64_t file_bytes) {
  const auto read = [&](std::uint64_t offset, std::uint64_t bytes) {
    std::string text(bytes, '\0');
    if (const int error = read_exactly(fd_.get(), text.data(), text.size(), offset)) {
      fail(path_, describe(error));
    }
    return text;
  };
  const std::string head = read(0, std::min<std::uint64_t>(file_bytes, kBundleHeadBytes));
  if (head.substr(0, 8) != bundle_head().substr(0, 8)) fail(path_, "it is not a bundle");
  const std::uint64_t trailer = std::min<std::uint64_t>(file_bytes, kBundleTrailerBytes);
  const auto parts = parse_bundle(head, read(file_bytes - trailer, trailer), file_bytes);
  if (!parts) fail(path_, "it is cut short, damaged, or of another format version");
  if (parts->entries > kMostEntries || parts->marker_bytes > kMostMarkerBytes) {
    fail(path_, "it has more than " + std::to_string(kMostEntries) +
                    " entries, or more than 64 KiB of markers; export fewer");
  }
  parts_ = *parts;
  tail_ = read(file_bytes - parts_.tail_bytes(), parts_.tail_bytes());
}

std::string_view BundleFile::record_at(std::uint64_t i) const noexcept {
  return std::string_view(tail_).substr(i * kRecordBytes, kRecordBytes);
}

std::optional<std::string_view> BundleFile::find_record(const Digest& key) const noexcept {
  std::uint64_t first = 0, last = parts_.entries;
  while (first < last) {
    const std::uint64_t middle = first + (last - first) / 2;
    const int order = std::memcmp(record_at(middle).data(), key.data(), key.size());
    if (order == 0) return record_at(middle);
    (order < 0 ? first : last) = order < 0 ? middle + 1 : middle;
  }
  return std::nullopt;
}

std::optional<Extent> BundleFile::extent_of(const Record& record) const noexcept {
  if (record.offset < kBundleHeadBytes || record.offset > parts_.index_at ||
      record.bytes > parts_.index_at - record.offset) {
    return std::nullopt;
  }
  return Extent{record.offset, record.bytes};
}

ReadResult BundleFile::read(const Record& record) const {
  const auto extent = extent_of(record);
  if (!extent) return {Status::damaged};
  EntryFile file = read_entry(fd_.get(), *extent);
  if (file.state == EntryFile::State::unreadable) return {Status::failed};
  if (file.state != EntryFile::State::whole || file.digest != record.digest) {
    return {Status::damaged};
  }
  if (!is_of(identity_, to_hex(record.key), file.entry->metadata)) return {Status::misplaced};
  return {Status::hit, std::move(file.entry)};
}

ReadResult BundleFile::read(const std::string& key) const {
  const auto found = find_record(from_hex(key));
  if (!found) return {};
  const auto record = decode_record(*found);
  return record ? read(*record) : ReadResult{Status::damaged};
}

Extent BundleFile::find_whole(const std::string& key, std::optional<EntryLengths>& lengths) const {
  const auto found = find_record(from_hex(key));
  const auto record = found ? decode_record(*found) : std::nullopt;
  const auto extent = record ? extent_of(*record) : std::nullopt;
  if (extent) lengths = read_lengths(fd_.get(), *extent);
  return extent.value_or(Extent{});
}

bool BundleFile::has(const std::string& key) const {
  std::optional<EntryLengths> lengths;
  (void)find_whole(key, lengths);
  return lengths.has_value();
}

std::optional<std::string> BundleFile::metadata(const std::string& key) const {
  std::optional<EntryLengths> lengths;
  const Extent extent = find_whole(key, lengths);
  if (!lengths) return std::nullopt;
  std::string text(lengths->metadata, '\0');
  const std::uint64_t offset = extent.offset + lengths->payload;
  const bool read = read_exactly(fd_.get(), text.data(), text.size(), offset) == 0;
  return read ? std::optional(std::move(text)) : std::nullopt;
}

std::string_view BundleFile::marker_text() const noexcept {
  return std::string_view(tail_).substr(parts_.index_bytes(), parts_.marker_bytes);
}

std::vector<std::string> BundleFile::markers(const std::string& kind) const {
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

void BundleFile::each(const std::function<void(const Record&)>& see) const {
  for (std::uint64_t i = 0; i < parts_.entries; ++i) {
    if (const auto record = decode_record(record_at(i))) see(*record);
  }
}

std::optional<std::string> BundleFile::file_of(const Record& record) const {
  const ReadResult result = read(record);
  return result.entry ? std::optional(encode_entry(*result.entry)) : std::nullopt;
}

// Checks that every byte between head and index belongs to exactly one entry.
bool BundleFile::entries_fill_the_file(std::vector<Record> records) const {
  std::sort(records.begin(), records.end(),
            [](const Record& a, const Record& b) { return a.offset < b.offset; });
  std::uint64_t at = kBundleHeadBytes;
  for (const Record& record : records) {
    if (record.offset != at || record.bytes > parts_.index_at - at) return false;
    at += record.bytes;
  }
  return at == parts_.index_at;
}

VerifyReport BundleFile::verify() const {
  VerifyReport report;
  std::vector<Record> records;
  bool sound = verify_bundle_index(tail_, parts_);
  if (parts_.is_signed) sound = sound && is_bundle_signed_by(tail_, bundle_signer(tail_));
  each([&](const Record& record) {
    sound = sound && (records.empty() || records.back().key < record.key);
    records.push_back(record);
    const Status status = read(record).status;
    if (status == Status::hit) {
      ++report.good;
      return;
    }
    const std::string key = to_hex(record.key);
    report.damaged.push_back(key);
    if (status == Status::misplaced) report.misplaced.push_back(key);
  });
  sound = sound && records.size() == parts_.entries && entries_fill_the_file(std::move(records));
  if (!sound) report.damaged.push_back(path_);
  return report;
}

std::optional<PublicKey> BundleFile::signer() const {
  return parts_.is_signed ? std::optional(bundle_signer(tail_)) : std::nullopt;
}

}  // namespace tilejit::cache
