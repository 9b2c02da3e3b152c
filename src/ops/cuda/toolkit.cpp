#include "cuda/toolkit.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <system_error>

#include "compile/search_places.hpp"
#include "compile/toolkit.hpp"
#include "tilejit/cache/files.hpp"

namespace tilejit::cuda {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> toolkit_places() {
  std::vector<fs::path> places;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const std::string home = compile::environment(variable);
    if (!home.empty()) places.push_back(fs::path(home) / "include");
  }
  for (const fs::path& toolkit : compile::toolkits_in_usr_local()) {
    places.push_back(toolkit / "include");
  }
  std::erase_if(places, compile::is_hidden);
  for (const fs::path& prefix : compile::python_prefixes()) {
    for (const fs::path& packages : compile::python_packages(prefix)) {
      places.push_back(packages / "nvidia/cu13/include");
      places.push_back(packages / "nvidia/cuda_runtime/include");
    }
  }
  return places;
}

/// The number after "#define CUDA_VERSION"; empty if there is none.
std::string cuda_version(const fs::path& header) {
  const cache::FileText file = cache::read_file(header);
  constexpr std::string_view kDefine = "#define CUDA_VERSION ";
  const std::size_t at = file.bytes.find(kDefine);
  if (at == std::string::npos) return {};
  std::size_t end = at + kDefine.size();
  while (end < file.bytes.size() && std::isdigit(static_cast<unsigned char>(file.bytes[end])) != 0)
    ++end;
  return file.bytes.substr(at + kDefine.size(), end - at - kDefine.size());
}

}  // namespace

std::optional<Toolkit> find_toolkit() {
  std::error_code error;
  for (const fs::path& folder : toolkit_places()) {
    const std::string version = cuda_version(folder / "cuda.h");
    if (version.empty()) continue;
    Toolkit toolkit{.folders = {folder.string()}, .version = version};
    // Since CUDA 13, libcu++, CUB and Thrust have a folder of their own.
    if (fs::is_directory(folder / "cccl", error)) {
      toolkit.folders.push_back((folder / "cccl").string());
    }
    return toolkit;
  }
  return std::nullopt;
}

bool has_header(const Toolkit& toolkit, std::string_view name) {
  std::error_code error;
  return std::ranges::any_of(toolkit.folders, [&](const std::string& folder) {
    return fs::is_regular_file(fs::path(folder) / name, error);
  });
}

}  // namespace tilejit::cuda
