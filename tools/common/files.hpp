#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "tilejit/cache/files.hpp"

namespace tilejit::cli {

inline constexpr std::uintmax_t kLargestKey = 1 << 16;  ///< bytes of a PEM file

/// The whole text of a file, or of standard input for "-". Throws UsageError, naming the path, if
/// it is missing, a folder, not of this kind, not readable, or larger than `limit` bytes. A file
/// that a person names may be a pipe, such as a shell's <(...); a file that the environment names
/// must be a regular file.
[[nodiscard]] std::string read_file(const std::filesystem::path& path, std::uintmax_t limit,
                                    cache::FileKind kind = cache::FileKind::any);

/// Replaces `path` by `bytes`, or writes to standard output for "-". The file is first written in
/// the same folder under a name that nobody can guess, and then renamed: a failure leaves the old
/// file, and a link of that name is replaced, not followed. A device or a pipe is written to
/// directly. Throws Failure.
void write_file(const std::filesystem::path& path, std::string_view bytes);

/// Throws Failure unless a file can be created in `folder`, which is made if it is missing.
void check_writable(const std::filesystem::path& folder);

}  // namespace tilejit::cli
