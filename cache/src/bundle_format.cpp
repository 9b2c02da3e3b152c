#include "bundle_format.hpp"

#include <algorithm>
#include <cstring>

#include "little_endian.hpp"

namespace tilejit::cache {
namespace {

constexpr std::string_view kMagic{"tjbundle", 8};
constexpr std::string_view kEnd{"tjbdone\n", 8};
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kSigned = 1;

// Offsets inside a record.
constexpr std::size_t kRecordDigestAt = 32;
constexpr std::size_t kRecordOffsetAt = 64;
constexpr std::size_t kRecordLengthAt = 72;
constexpr std::size_t kRecordCheckAt = 80;

// Offsets inside the trailer.
constexpr std::size_t kVersionAt = 8;
constexpr std::size_t kFlagsAt = 12;
constexpr std::size_t kEntriesAt = 16;
constexpr std::size_t kIndexAt = 24;
constexpr std::size_t kMarkersAt = 32;
constexpr std::size_t kDigestAt = 40;
constexpr std::size_t kSignerAt = 72;
constexpr std::size_t kSignatureAt = 104;
constexpr std::size_t kEndAt = 168;
static_assert(kEndAt + 8 == kBundleTrailerBytes);

template <class Array>
void append(std::string& out, const Array& bytes) {
  out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

template <class Array>
Array load(std::string_view bytes, std::size_t at) noexcept {
  Array result;
  std::memcpy(result.data(), bytes.data() + at, result.size());
  return result;
}

std::string_view trailer_of(std::string_view tail) noexcept {
  return tail.substr(tail.size() - kBundleTrailerBytes);
}

// The check of a record, over the bytes before it.
std::uint64_t record_check(std::string_view bytes) noexcept {
  const Digest digest = sha256(bytes.substr(0, kRecordCheckAt));
  return load_little_endian<std::uint64_t>(
      {reinterpret_cast<const char*>(digest.data()), digest.size()}, 0);
}

bool is_head(std::string_view bytes) noexcept {
  return bytes.starts_with(kMagic) &&
         load_little_endian<std::uint32_t>(bytes, kVersionAt) == kVersion &&
         load_little_endian<std::uint32_t>(bytes, kFlagsAt) == 0;
}

}  // namespace

std::string bundle_head() {
  std::string head(kMagic);
  append_little_endian(head, kVersion);
  append_little_endian(head, std::uint32_t{0});
  return head;
}

std::string encode_record(const Record& record) {
  std::string bytes;
  append(bytes, record.key);
  append(bytes, record.digest);
  append_little_endian(bytes, record.offset);
  append_little_endian(bytes, record.bytes);
  append_little_endian(bytes, record_check(bytes));
  return bytes;
}

std::optional<Record> decode_record(std::string_view bytes) noexcept {
  if (load_little_endian<std::uint64_t>(bytes, kRecordCheckAt) != record_check(bytes)) {
    return std::nullopt;
  }
  return Record{.key = load<Digest>(bytes, 0),
                .digest = load<Digest>(bytes, kRecordDigestAt),
                .offset = load_little_endian<std::uint64_t>(bytes, kRecordOffsetAt),
                .bytes = load_little_endian<std::uint64_t>(bytes, kRecordLengthAt)};
}

std::string encode_bundle_trailer(const BundleParts& parts, std::string_view body,
                                  const std::string& private_key) {
  std::string trailer(kMagic);
  append_little_endian(trailer, kVersion);
  append_little_endian(trailer, private_key.empty() ? std::uint32_t{0} : kSigned);
  append_little_endian(trailer, parts.entries);
  append_little_endian(trailer, parts.index_at);
  append_little_endian(trailer, parts.marker_bytes);
  append(trailer, sha256(std::string(body) + trailer));
  const Signed made = private_key.empty() ? Signed{} : sign(trailer, private_key);
  append(trailer, made.signer);
  append(trailer, made.signature);
  return trailer += kEnd;
}

std::optional<BundleParts> parse_bundle(std::string_view head, std::string_view trailer,
                                        std::uint64_t file_bytes) noexcept {
  if (file_bytes < kBundleHeadBytes + kBundleTrailerBytes || !is_head(head)) return std::nullopt;
  if (!trailer.starts_with(kMagic) || !trailer.ends_with(kEnd)) return std::nullopt;
  if (load_little_endian<std::uint32_t>(trailer, kVersionAt) != kVersion) return std::nullopt;
  const auto flags = load_little_endian<std::uint32_t>(trailer, kFlagsAt);
  if (flags > kSigned) return std::nullopt;
  const BundleParts parts{.entries = load_little_endian<std::uint64_t>(trailer, kEntriesAt),
                          .index_at = load_little_endian<std::uint64_t>(trailer, kIndexAt),
                          .marker_bytes = load_little_endian<std::uint64_t>(trailer, kMarkersAt),
                          .is_signed = flags == kSigned};
  // Compares by subtraction and division, since sums of numbers from a file may overflow.
  const std::uint64_t end = file_bytes - kBundleTrailerBytes;
  if (parts.index_at < kBundleHeadBytes || parts.index_at > end) return std::nullopt;
  const std::uint64_t body = end - parts.index_at;
  if (parts.marker_bytes > body || (body - parts.marker_bytes) % kRecordBytes != 0 ||
      (body - parts.marker_bytes) / kRecordBytes != parts.entries) {
    return std::nullopt;
  }
  return parts;
}

// Index, markers, and the trailer up to its digest are contiguous.
bool verify_bundle_index(std::string_view tail, const BundleParts& parts) noexcept {
  const std::string_view trailer = trailer_of(tail);
  const std::size_t end = tail.size() - kBundleTrailerBytes + kDigestAt;
  if (sha256(tail.substr(0, end)) != load<Digest>(trailer, kDigestAt)) return false;
  if (parts.is_signed) return true;
  return trailer.substr(kSignerAt, kEndAt - kSignerAt).find_first_not_of('\0') ==
         std::string_view::npos;
}

PublicKey bundle_signer(std::string_view tail) noexcept {
  return load<PublicKey>(trailer_of(tail), kSignerAt);
}

bool is_bundle_signed_by(std::string_view tail, const PublicKey& signer) noexcept {
  const std::string_view trailer = trailer_of(tail);
  return bundle_signer(tail) == signer &&
         is_signed_by(trailer.substr(0, kSignerAt), signer, load<Signature>(trailer, kSignatureAt));
}

}  // namespace tilejit::cache
