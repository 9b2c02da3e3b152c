#pragma once

#include <string>
#include <string_view>

namespace tilejit::cache {

/// Publishes `bytes` as `path`: a temporary in the same folder, written, fsynced and renamed, then
/// the folder fsynced; folders that are missing are made. Readers see the old file, or the new one
/// whole. On failure no temporary stays and `path` is as before. Safe against other threads,
/// processes and hosts that do the same. Returns 0, or the error number (errno) of the system call
/// that failed.
[[nodiscard]] int publish_file(const std::string& path, std::string_view bytes);

}  // namespace tilejit::cache
