#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tilejit::cache {

/// Bytes of the trailer that ends an entry's file (cache/FORMAT.md).
inline constexpr std::size_t kTrailerBytes = 64;

/// Bytes of the two parts in front of the trailer: the payload starts the file, metadata follows.
struct EntryLengths {
  std::uint64_t payload = 0;
  std::uint64_t metadata = 0;
};

/// The lengths in `trailer`, the last kTrailerBytes of a file of `file_bytes` bytes; nothing unless
/// magic, version and lengths fit. The digest is not looked at, so a reader may refuse a file of
/// any size before it takes memory for it.
[[nodiscard]] std::optional<EntryLengths> parse_trailer(std::string_view trailer,
                                                        std::uint64_t file_bytes) noexcept;

/// Whether `trailer` ends an entry of another version of the format: not ours to read, nor damaged.
[[nodiscard]] bool is_other_format(std::string_view trailer) noexcept;

/// The lengths of a whole `file` whose digest is right; nothing if any byte of it is not.
[[nodiscard]] std::optional<EntryLengths> verify_entry(std::string_view file) noexcept;

}  // namespace tilejit::cache
