#include "entry_format.hpp"

#include <cstring>
#include <string>

#include "little_endian.hpp"
#include "sha256.hpp"
#include "tilejit/cache/entry.hpp"

namespace tilejit::cache {
namespace {

constexpr std::string_view kMagic{"tjentry\n", 8};
constexpr std::uint32_t kFormatVersion = 1;

// Offsets inside the trailer.
constexpr std::size_t kVersionAt = 8;
constexpr std::size_t kFlagsAt = 12;
constexpr std::size_t kPayloadAt = 16;
constexpr std::size_t kMetadataAt = 24;
constexpr std::size_t kDigestAt = 32;
static_assert(kDigestAt + sizeof(Digest) == kTrailerBytes);

}  // namespace

std::optional<EntryLengths> parse_trailer(std::string_view trailer,
                                          std::uint64_t file_bytes) noexcept {
  if (trailer.size() != kTrailerBytes || file_bytes < kTrailerBytes) return std::nullopt;
  if (!trailer.starts_with(kMagic)) return std::nullopt;
  if (load_little_endian<std::uint32_t>(trailer, kVersionAt) != kFormatVersion) return std::nullopt;
  if (load_little_endian<std::uint32_t>(trailer, kFlagsAt) != 0) return std::nullopt;
  const EntryLengths lengths{load_little_endian<std::uint64_t>(trailer, kPayloadAt),
                             load_little_endian<std::uint64_t>(trailer, kMetadataAt)};
  // Compares by subtraction, since the sum of two lengths from a file may overflow.
  const std::uint64_t body = file_bytes - kTrailerBytes;
  if (lengths.payload > body || lengths.metadata != body - lengths.payload) return std::nullopt;
  return lengths;
}

bool is_other_format(std::string_view trailer) noexcept {
  return trailer.size() == kTrailerBytes && trailer.starts_with(kMagic) &&
         load_little_endian<std::uint32_t>(trailer, kVersionAt) != kFormatVersion;
}

std::optional<EntryLengths> verify_entry(std::string_view file) noexcept {
  if (file.size() < kTrailerBytes) return std::nullopt;
  const auto lengths = parse_trailer(file.substr(file.size() - kTrailerBytes), file.size());
  if (!lengths) return std::nullopt;
  const Digest digest = sha256(file.substr(0, file.size() - sizeof(Digest)));
  const char* stored = file.data() + file.size() - sizeof(Digest);
  if (std::memcmp(stored, digest.data(), sizeof(Digest)) != 0) return std::nullopt;
  return lengths;
}

std::string encode_entry(const Entry& entry) {
  std::string file;
  file.reserve(entry.payload.size() + entry.metadata.size() + kTrailerBytes);
  file += entry.payload;
  file += entry.metadata;
  file += kMagic;
  append_little_endian(file, kFormatVersion);
  append_little_endian(file, std::uint32_t{0});
  append_little_endian(file, static_cast<std::uint64_t>(entry.payload.size()));
  append_little_endian(file, static_cast<std::uint64_t>(entry.metadata.size()));
  const Digest digest = sha256(file);
  file.append(reinterpret_cast<const char*>(digest.data()), digest.size());
  return file;
}

std::optional<Entry> decode_entry(std::string_view file) {
  const auto lengths = verify_entry(file);
  if (!lengths) return std::nullopt;
  return Entry{std::string(file.substr(0, lengths->payload)),
               std::string(file.substr(lengths->payload, lengths->metadata))};
}

}  // namespace tilejit::cache
