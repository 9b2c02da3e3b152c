#include "support/host_library.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace tilejit::test {

namespace fs = std::filesystem;

namespace {

// Libraries of one process share nothing: g++ would give the variables of their inline functions,
// such as arrays whose sizes depend on a kernel, to all that have one of that name.
#ifdef __clang__
constexpr const char* kOwnVariables = "";
#else
constexpr const char* kOwnVariables = " -fno-gnu-unique";
#endif

}  // namespace

HostLibrary::HostLibrary(const std::string& text, const std::string& options) {
  std::string folder = (fs::temp_directory_path() / "tilejit_host_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
  const fs::path inside = folder;
  const std::string source = (inside / "text.cpp").string(),
                    library = (inside / "text.so").string();
  std::ofstream(source) << text;
  const std::string command = std::string(TILEJIT_HOST_COMPILER) + " " + options + kOwnVariables +
                              " -O1 -w -fno-strict-aliasing -shared -fPIC -o " + library + " " +
                              source;
  const bool compiles = std::system(command.c_str()) == 0;
  if (compiles) library_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  fs::remove_all(inside);
  if (!compiles) throw std::runtime_error("does not compile: " + text.substr(0, 10'000));
  if (library_ == nullptr) throw std::runtime_error(dlerror());
}

HostLibrary::~HostLibrary() {
  if (library_ != nullptr) dlclose(library_);
}

void* HostLibrary::symbol(const char* name) const {
  return dlsym(library_, name);
}

}  // namespace tilejit::test
