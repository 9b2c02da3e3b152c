#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sha256.hpp"
#include "signature.hpp"

namespace tilejit::cache {

// A bundle's bytes (cache/FORMAT.md): head, entries, index, markers, trailer.

inline constexpr std::size_t kBundleHeadBytes = 16;
inline constexpr std::size_t kRecordBytes = 88;
inline constexpr std::size_t kBundleTrailerBytes = 176;
inline constexpr std::uint64_t kMostEntries = 4'000'000;  ///< of a bundle; its index is read whole
inline constexpr std::uint64_t kMostMarkerBytes = 64u << 10;  ///< each becomes a file

/// One entry in the index.
struct Record {
  Digest key = {};
  Digest digest = {};  ///< what the entry's trailer ends with
  std::uint64_t offset = 0, bytes = 0;
};

/// Where the parts of a bundle are.
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
/// Nothing if its check does not fit.
[[nodiscard]] std::optional<Record> decode_record(std::string_view bytes) noexcept;

/// The trailer behind `body`, the text of index and markers. `private_key`: empty, or in PEM.
[[nodiscard]] std::string encode_bundle_trailer(const BundleParts& parts, std::string_view body,
                                                const std::string& private_key);
/// Nothing unless head and trailer, as long as they are, are those of a whole bundle of
/// `file_bytes` bytes. No digest is looked at.
[[nodiscard]] std::optional<BundleParts> parse_bundle(std::string_view head,
                                                      std::string_view trailer,
                                                      std::uint64_t file_bytes) noexcept;

// `tail`: index, markers and trailer, which end the file.

/// Whether they are as they were written.
[[nodiscard]] bool verify_bundle_index(std::string_view tail, const BundleParts& parts) noexcept;
[[nodiscard]] PublicKey bundle_signer(std::string_view tail) noexcept;
/// Whether the signature is `signer`'s and fits the index. Does not verify the index itself.
[[nodiscard]] bool is_bundle_signed_by(std::string_view tail, const PublicKey& signer) noexcept;

}  // namespace tilejit::cache
