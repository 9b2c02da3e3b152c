#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compile/nvrtc.hpp"

namespace tilejit::compile {

/// The outcome of looking for NVRTC.
struct SearchResult {
  std::optional<CompilerId> found;
  std::vector<std::string> looked_in;  ///< files, folders and "the dynamic loader", in order
};

/// What find_nvrtc does, with the places it went to. Reads the same environment.
[[nodiscard]] SearchResult search_nvrtc(const std::filesystem::path& explicit_path);

/// The version a library's file name ends in: "libnvrtc.so.12.4.127" is {12, 4}, "libnvrtc.so.13"
/// is {13, -1}; nothing for "libnvrtc.so" and other names.
[[nodiscard]] std::optional<std::pair<int, int>> version_in_name(std::string_view file_name);

/// True for versions this library works with: 12.8 and later of major 12, and major 13. A minor of
/// -1 is unknown and passes.
[[nodiscard]] bool is_supported_version(int major, int minor) noexcept;

}  // namespace tilejit::compile
