#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace tilejit::compile {

/// Finds nvdisasm, or else cuobjdump. Looks in the folders of `search_path` (separated by colons),
/// then in the `bin` folder of the toolkit that holds NVRTC's library `nvrtc`, then in
/// /usr/local/cuda/bin. With TILEJIT_NO_TOOLKIT=1, programs below CUDA_HOME, CUDA_PATH or
/// /usr/local/cuda* are ignored.
[[nodiscard]] std::optional<std::filesystem::path> find_disassembler(
    std::string_view search_path, const std::filesystem::path& nvrtc);

/// The machine code of a cubin as text. Throws Error{io} if the program cannot be run, if it fails
/// (with its output), or if it takes longer than `time`; then it is killed.
[[nodiscard]] std::string disassemble(const std::filesystem::path& program, std::string_view cubin,
                                      std::chrono::milliseconds time = std::chrono::minutes(1));

}  // namespace tilejit::compile
