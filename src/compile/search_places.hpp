#pragma once

#include <filesystem>
#include <span>
#include <vector>

namespace tilejit::compile {

/// Folders that may hold NVRTC, best first. The functions only read the file system: they load
/// nothing and start no process.

/// "cuda-12.9" before "cuda-12.8" before "cuda-9.2"; plain "cuda", the administrator's choice,
/// first.
[[nodiscard]] std::vector<std::filesystem::path> toolkits_in_usr_local();

/// The dynamic loader's own folders, as far as they are known without loading anything.
[[nodiscard]] std::vector<std::filesystem::path> system_folders();

/// The run path of libtilejit, or of the program that it is linked into. A build tree's run path
/// names .deps/cuda/lib of its checkout; installing removes that.
[[nodiscard]] std::vector<std::filesystem::path> run_path_folders();

/// The prefixes below which Python installs packages: VIRTUAL_ENV, the user's PYTHONUSERBASE or
/// else HOME/.local, /usr/local, /usr.
[[nodiscard]] std::vector<std::filesystem::path> python_prefixes();

/// The package folders below a prefix, the newest Python first.
[[nodiscard]] std::vector<std::filesystem::path> python_packages(
    const std::filesystem::path& prefix);

/// The folders of PyPI's NVRTC wheels, relative to a package folder.
[[nodiscard]] std::span<const char* const> wheel_folders() noexcept;

}  // namespace tilejit::compile
