#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "tilejit/cache/entry.hpp"

namespace tilejit::cache {

/// A descriptor above 2 for what `fd` has open: `fd` itself, or a duplicate of it, `fd` closed.
/// Where a process has standard input, output or error closed, the next file gets its number, and
/// what others print lands in that file. A negative `fd` comes back as it is. -1, with errno set
/// and `fd` closed, if there is no duplicate to be had.
[[nodiscard]] int above_stdio(int fd) noexcept;

/// What is opened to be read.
enum class FileKind : std::uint8_t {
  regular,  ///< nothing else: a FIFO without a writer would never end
  any,      ///< pipes and devices too, for a file that a person has named
};

struct FileRules {
  std::uintmax_t most_bytes = 64u << 20;
  FileKind kind = FileKind::regular;
  /// Trust::own: the file and its folder belong to the user or to root, and nobody else may write
  /// to them; the folder may be a shared one whose files only their owners may replace (sticky).
  Trust trust = Trust::anyone;
};

/// What came of reading a file.
struct FileText {
  enum class Outcome : std::uint8_t {
    read,
    missing,
    folder,
    not_regular,
    too_large,
    refused,
    failed
  };
  Outcome outcome = Outcome::read;
  std::string bytes = {};
  std::string reason = {};  ///< for a message, unless it was read: "it is no regular file"
};

/// Reads a whole file by `rules`. Its kind is looked at after it was opened. Throws std::bad_alloc
/// alone.
[[nodiscard]] FileText read_file(const std::filesystem::path& path, const FileRules& rules = {});

}  // namespace tilejit::cache
