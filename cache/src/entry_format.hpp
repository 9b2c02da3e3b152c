#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tilejit::cache {

/// Size of the trailer that ends an entry's file (cache/FORMAT.md).
inline constexpr std::size_t kTrailerBytes = 64;

/// Sizes of the two parts before the trailer: the payload starts the file, the metadata follows.
struct EntryLengths {
  std::uint64_t payload = 0;
  std::uint64_t metadata = 0;
};

/// The lengths in `trailer`, the last kTrailerBytes of a file of `file_bytes` bytes; nothing unless
/// magic, version and lengths fit. Does not check the digest, so that a reader can reject a file of
/// any size before it allocates memory.
[[nodiscard]] std::optional<EntryLengths> parse_trailer(std::string_view trailer,
                                                        std::uint64_t file_bytes) noexcept;

/// True if `trailer` ends an entry of another format version. Such an entry is not readable, but
/// not damaged.
[[nodiscard]] bool is_other_format(std::string_view trailer) noexcept;

/// The lengths of a complete `file`; nothing unless its digest is right.
[[nodiscard]] std::optional<EntryLengths> verify_entry(std::string_view file) noexcept;

}  // namespace tilejit::cache
