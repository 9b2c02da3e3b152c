#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "tilejit/cache/files.hpp"

namespace tilejit::cli {

inline constexpr std::uintmax_t kLargestKey = 1 << 16;  ///< bytes of a PEM file

/// The whole text of a file, or of standard input for "-". Throws UsageError, naming the path, if
/// it is missing, a folder, not of this kind, not readable, or larger than `limit` bytes. What a
/// person names may be a pipe, as of a shell's <(...); what the environment names is a regular
/// file.
[[nodiscard]] std::string read_file(const std::filesystem::path& path, std::uintmax_t limit,
                                    cache::FileKind kind = cache::FileKind::any);

/// Replaces `path` by `bytes`, or writes to standard output for "-". The file is written beside its
/// name under one that nobody can guess, and renamed: a failure leaves what was there, and a link
/// of that name is replaced, not followed. A device or a pipe is written to. Throws Failure.
void write_file(const std::filesystem::path& path, std::string_view bytes);

/// Throws Failure unless a file can be created in `folder`, which is made if it is missing.
void check_writable(const std::filesystem::path& folder);

}  // namespace tilejit::cli
