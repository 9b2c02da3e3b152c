#pragma once

#include <cstdint>
#include <optional>

#include "entry_format.hpp"
#include "sha256.hpp"
#include "tilejit/cache/entry.hpp"

namespace tilejit::cache {

/// Where an entry's bytes lie in an open file: all of it, or a part of a bundle.
struct Extent {
  std::uint64_t offset = 0, bytes = 0;
};

/// What came of reading them.
struct EntryFile {
  enum class State : std::uint8_t { whole, damaged, other_format, unreadable };
  State state = State::damaged;
  std::shared_ptr<Entry> entry = nullptr;  ///< State::whole only; verified
  Digest digest = {};                      ///< what its trailer ends with
  int error = 0;                           ///< State::unreadable: an error number
};

/// Reads and verifies an entry. One of more than 4 MiB has its trailer looked at before memory is
/// taken for it.
[[nodiscard]] EntryFile read_entry(int fd, Extent extent);

/// The lengths of an entry whose trailer fits it; nothing else of it is looked at.
[[nodiscard]] std::optional<EntryLengths> read_lengths(int fd, Extent extent) noexcept;

}  // namespace tilejit::cache
