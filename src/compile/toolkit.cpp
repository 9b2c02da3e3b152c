#include "compile/toolkit.hpp"

#include <algorithm>
#include <cstdlib>
#include <system_error>

namespace tilejit::compile {
namespace {

namespace fs = std::filesystem;

bool is_below(const fs::path& path, const fs::path& folder) {
  const auto [in_folder, in_path] =
      std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return in_folder == folder.end() || (in_folder->empty() && in_path != path.end());
}

bool is_in_a_toolkit(const fs::path& path) {
  if (path.native().starts_with("/usr/local/cuda")) return true;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const std::string home = environment(variable);
    if (!home.empty() && is_below(path, home)) return true;
  }
  return false;
}

}  // namespace

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

bool toolkits_are_hidden() {
  return environment("TILEJIT_NO_TOOLKIT") == "1";
}

bool is_hidden(const fs::path& path) {
  if (!toolkits_are_hidden()) return false;
  std::error_code error;
  return is_in_a_toolkit(path) || is_in_a_toolkit(fs::weakly_canonical(path, error));
}

}  // namespace tilejit::compile
