#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compile/nvrtc.hpp"

namespace tilejit::compile {

/// The result of the search for NVRTC.
struct SearchResult {
  std::optional<CompilerId> found;
  std::vector<std::string> looked_in;  ///< files, folders and "the dynamic loader", in order
};

/// find_nvrtc, with the places that it searched. Reads the same environment.
[[nodiscard]] SearchResult search_nvrtc(const std::filesystem::path& explicit_path);

/// The version at the end of a library's file name: "libnvrtc.so.12.4.127" is {12, 4},
/// "libnvrtc.so.13" is {13, -1}; nothing for "libnvrtc.so" and other names.
[[nodiscard]] std::optional<std::pair<int, int>> version_in_name(std::string_view file_name);

/// True for the supported versions: 12.8 and later of major 12, and major 13. A minor of -1 means
/// unknown and is accepted.
[[nodiscard]] bool is_supported_version(int major, int minor) noexcept;

}  // namespace tilejit::compile
