#pragma once

#include <string>
#include <string_view>

namespace tilejit::cache {

/// Publishes `bytes` as `path`: writes a temporary in the same folder, fsyncs and renames it, then
/// fsyncs the folder. Creates missing folders. Readers see either the old file or the complete new
/// one. On failure no temporary stays and `path` is unchanged. Safe against other threads,
/// processes and hosts that do the same. Returns 0, or the error number (errno) of the system call
/// that failed.
[[nodiscard]] int publish_file(const std::string& path, std::string_view bytes);

}  // namespace tilejit::cache
