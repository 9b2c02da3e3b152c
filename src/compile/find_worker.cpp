#include <dlfcn.h>
#include <unistd.h>

#include <system_error>
#include <vector>

#include "compile/workers.hpp"

namespace tilejit::compile {
namespace {

namespace fs = std::filesystem;

fs::path folder_of_executable() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

/// The folder of this library; that of the executable if the library is linked into it.
fs::path folder_of_library() {
  Dl_info info;
  if (::dladdr(reinterpret_cast<const void*>(&find_worker), &info) == 0) return {};
  std::error_code error;
  return fs::canonical(info.dli_fname, error).parent_path();
}

}  // namespace

fs::path find_worker() {
  // A library may be in lib or in lib/x86_64-linux-gnu.
  constexpr const char* kPlaces[] = {"", "../bin", "../libexec", "../../bin", "../../libexec"};
  for (const fs::path& folder : {folder_of_executable(), folder_of_library()}) {
    if (folder.empty()) continue;
    for (const char* place : kPlaces) {
      const fs::path program = (folder / place / "tilejit-worker").lexically_normal();
      if (::access(program.c_str(), X_OK) == 0) return program;
    }
  }
  return {};
}

}  // namespace tilejit::compile
