#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace tilejit::compile {

/// nvdisasm, or else cuobjdump: in the folders of `search_path` (between colons), then in the `bin`
/// folder of the toolkit that NVRTC's library, `nvrtc`, belongs to, then in /usr/local/cuda/bin.
/// With TILEJIT_NO_TOOLKIT=1 none is taken from below CUDA_HOME, CUDA_PATH or /usr/local/cuda*.
[[nodiscard]] std::optional<std::filesystem::path> find_disassembler(
    std::string_view search_path, const std::filesystem::path& nvrtc);

/// The machine code of a cubin as text. Throws Error{io} if the program cannot be run, fails (with
/// what it said), or takes longer than `time` and is killed.
[[nodiscard]] std::string disassemble(const std::filesystem::path& program, std::string_view cubin,
                                      std::chrono::milliseconds time = std::chrono::minutes(1));

}  // namespace tilejit::compile
