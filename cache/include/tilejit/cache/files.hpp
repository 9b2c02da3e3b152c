#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "tilejit/cache/entry.hpp"

namespace tilejit::cache {

/// A descriptor above 2 for the file that `fd` has open: `fd` itself, or a duplicate; then `fd` is
/// closed. In a process whose standard input, output or error is closed, the next file opened gets
/// that number, and the output of other code would end up in the file. A negative `fd` is returned
/// unchanged. Returns -1, with errno set and `fd` closed, if no duplicate can be made.
[[nodiscard]] int above_stdio(int fd) noexcept;

/// The kinds of files that may be read.
enum class FileKind : std::uint8_t {
  regular,  ///< regular files only: reading a FIFO without a writer would never end
  any,      ///< pipes and devices too, for a file that a person has named
};

struct FileRules {
  std::uintmax_t most_bytes = 64u << 20;
  FileKind kind = FileKind::regular;
  /// Trust::own: the file and its folder belong to the user or root, and nobody else may write to
  /// them. The folder may be a shared one in which only owners may replace files (sticky).
  Trust trust = Trust::anyone;
};

/// The result of reading a file.
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
  std::string reason = {};  ///< for a message, unless the file was read: "it is no regular file"
};

/// Reads a whole file by `rules`. Checks the kind of the file after opening it. Throws only
/// std::bad_alloc.
[[nodiscard]] FileText read_file(const std::filesystem::path& path, const FileRules& rules = {});

}  // namespace tilejit::cache
