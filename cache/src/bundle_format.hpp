#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sha256.hpp"
#include "signature.hpp"

namespace tilejit::cache {

// The bytes of a bundle (cache/FORMAT.md): head, entries, index, markers, trailer.

inline constexpr std::size_t kBundleHeadBytes = 16;
inline constexpr std::size_t kRecordBytes = 88;
inline constexpr std::size_t kBundleTrailerBytes = 176;
inline constexpr std::uint64_t kMostEntries = 4'000'000;      ///< a bundle's index is read whole
inline constexpr std::uint64_t kMostMarkerBytes = 64u << 10;  ///< each becomes a file

/// One entry in the index.
struct Record {
  Digest key = {};
  Digest digest = {};  ///< the last part of the entry's trailer
  std::uint64_t offset = 0, bytes = 0;
};

/// The places of a bundle's parts.
struct BundleParts {
  std::uint64_t entries = 0;  ///< number of records
  std::uint64_t index_at = 0;
  std::uint64_t marker_bytes = 0;
  bool is_signed = false;

  [[nodiscard]] std::uint64_t index_bytes() const noexcept { return entries * kRecordBytes; }
  [[nodiscard]] std::uint64_t tail_bytes() const noexcept {
    return index_bytes() + marker_bytes + kBundleTrailerBytes;
  }
};

[[nodiscard]] std::string bundle_head();
[[nodiscard]] std::string encode_record(const Record& record);
/// Nothing if the check of the record is wrong.
[[nodiscard]] std::optional<Record> decode_record(std::string_view bytes) noexcept;

/// The trailer that follows `body`, the text of index and markers. `private_key` is in PEM, or
/// empty.
[[nodiscard]] std::string encode_bundle_trailer(const BundleParts& parts, std::string_view body,
                                                const std::string& private_key);
/// Nothing unless head and trailer, which have their fixed lengths, fit a complete bundle of
/// `file_bytes` bytes. Checks no digest.
[[nodiscard]] std::optional<BundleParts> parse_bundle(std::string_view head,
                                                      std::string_view trailer,
                                                      std::uint64_t file_bytes) noexcept;

// `tail` is the end of the file: index, markers and trailer.

/// True if index and markers are as written.
[[nodiscard]] bool verify_bundle_index(std::string_view tail, const BundleParts& parts) noexcept;
[[nodiscard]] PublicKey bundle_signer(std::string_view tail) noexcept;
/// True if the signature is that of `signer` and matches the index. Does not verify the index
/// itself.
[[nodiscard]] bool is_bundle_signed_by(std::string_view tail, const PublicKey& signer) noexcept;

}  // namespace tilejit::cache
