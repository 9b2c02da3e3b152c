#pragma once

#include <filesystem>
#include <string>

namespace tilejit::compile {

/// The value of the variable; empty if it is not set.
[[nodiscard]] std::string environment(const char* name);

/// True if TILEJIT_NO_TOOLKIT is 1: CUDA toolkits then count as not installed.
[[nodiscard]] bool toolkits_are_hidden();

/// True while toolkits are hidden for paths that lie, with links followed, below /usr/local/cuda*,
/// CUDA_HOME or CUDA_PATH. Such paths must not be used.
[[nodiscard]] bool is_hidden(const std::filesystem::path& path);

}  // namespace tilejit::compile
