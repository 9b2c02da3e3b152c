#pragma once

#include <filesystem>
#include <span>
#include <vector>

namespace tilejit::compile {

/// Folders in which NVRTC may be, best first. They are read from the file system: nothing is loaded
/// and no process is started.

/// "cuda-12.9" before "cuda-12.8" before "cuda-9.2"; plain "cuda", the administrator's choice,
/// first.
[[nodiscard]] std::vector<std::filesystem::path> toolkits_in_usr_local();

/// The dynamic loader's own folders, as far as they can be known without loading anything.
[[nodiscard]] std::vector<std::filesystem::path> system_folders();

/// The run path of the library, or of the program that libtilejit is linked into. A build tree's
/// names .deps/cuda/lib of its checkout; installing removes that.
[[nodiscard]] std::vector<std::filesystem::path> run_path_folders();

/// Below which Python installs packages: VIRTUAL_ENV, the user's PYTHONUSERBASE or else
/// HOME/.local, /usr/local, /usr.
[[nodiscard]] std::vector<std::filesystem::path> python_prefixes();

/// The folders of packages below a prefix, the newest Python's first.
[[nodiscard]] std::vector<std::filesystem::path> python_packages(
    const std::filesystem::path& prefix);

/// Where PyPI's wheels of NVRTC put it, below a folder of packages.
[[nodiscard]] std::span<const char* const> wheel_folders() noexcept;

}  // namespace tilejit::compile
