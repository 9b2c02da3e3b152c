#pragma once

#include <cstdint>
#include <optional>

#include "entry_format.hpp"
#include "sha256.hpp"
#include "tilejit/cache/entry.hpp"

namespace tilejit::cache {

/// Where the bytes of an entry lie in an open file: in all of it, or in a part of a bundle.
struct Extent {
  std::uint64_t offset = 0, bytes = 0;
};

/// The result of reading an entry.
struct EntryFile {
  enum class State : std::uint8_t { whole, damaged, other_format, unreadable };
  State state = State::damaged;
  std::shared_ptr<Entry> entry = nullptr;  ///< State::whole only; verified
  Digest digest = {};                      ///< the last part of its trailer
  int error = 0;                           ///< State::unreadable: an error number
};

/// Reads and verifies an entry. If it has more than 4 MiB, its trailer is checked before memory is
/// allocated.
[[nodiscard]] EntryFile read_entry(int fd, Extent extent);

/// The lengths of an entry whose trailer matches. Checks nothing else.
[[nodiscard]] std::optional<EntryLengths> read_lengths(int fd, Extent extent) noexcept;

}  // namespace tilejit::cache
