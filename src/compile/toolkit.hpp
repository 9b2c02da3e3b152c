#pragma once

#include <filesystem>
#include <string>

namespace tilejit::compile {

/// The variable's value; empty if it is not set.
[[nodiscard]] std::string environment(const char* name);

/// True if TILEJIT_NO_TOOLKIT is 1: CUDA toolkits then count as not installed.
[[nodiscard]] bool toolkits_are_hidden();

/// True for paths below /usr/local/cuda*, CUDA_HOME or CUDA_PATH, links followed, while toolkits
/// are hidden: nothing may be taken from there.
[[nodiscard]] bool is_hidden(const std::filesystem::path& path);

}  // namespace tilejit::compile
