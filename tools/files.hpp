#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace tilejit::cli {

/// The whole text of a regular file, or of standard input for "-". Throws UsageError, naming the
/// path, if it is missing, a folder, not readable, or larger than `limit` bytes.
[[nodiscard]] std::string read_file(const std::filesystem::path& path, std::uintmax_t limit);

/// Replaces `path` by `bytes`, or writes to standard output for "-". The file is written beside its
/// name and renamed, so that a failure leaves what was there. Throws Failure.
void write_file(const std::filesystem::path& path, std::string_view bytes);

/// Throws Failure unless a file can be created in `folder`, which is made if it is missing.
void check_writable(const std::filesystem::path& folder);

}  // namespace tilejit::cli
