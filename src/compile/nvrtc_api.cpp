#include "compile/nvrtc_api.hpp"

#include <dlfcn.h>

#include <system_error>

#include "compile/search.hpp"
#include "tilejit/error.hpp"

namespace tilejit::compile {
namespace {

template <class Function>
void resolve(void* library, const char* name, const std::filesystem::path& path, Function& out) {
  out = reinterpret_cast<Function>(::dlsym(library, name));
  if (out != nullptr) return;
  throw Error(ErrorCode::no_compiler,
              std::string("the library has no function ") + name +
                  ", so it is not an NVRTC that works here; set TILEJIT_NVRTC to one of CUDA 12.8 "
                  "or later",
              path.string());
}

}  // namespace

NvrtcApi load_nvrtc(const std::filesystem::path& path) {
  // Never unloaded: NVRTC keeps state per thread, and a later Nvrtc would have to load it again.
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* reason = ::dlerror();
    throw Error(ErrorCode::no_compiler,
                std::string("NVRTC does not load: ") + (reason == nullptr ? "no reason" : reason) +
                    "; set TILEJIT_NVRTC to another",
                path.string());
  }
  NvrtcApi api;
#define TILEJIT_NVRTC_RESOLVE(fn) resolve(library, #fn, path, api.fn);
  TILEJIT_NVRTC_API(TILEJIT_NVRTC_RESOLVE)
#undef TILEJIT_NVRTC_RESOLVE
  return api;
}

void load_builtins(const std::filesystem::path& library, const std::string& version) {
  std::error_code error;
  for (const auto& file : {library, std::filesystem::canonical(library, error)}) {
    const auto builtins = file.parent_path() / ("libnvrtc-builtins.so." + version);
    // If this fails, NVRTC may still find it; otherwise the compile reports it.
    if (::dlopen(builtins.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) != nullptr) return;
  }
}

void require_supported(int major, int minor, const std::filesystem::path& library) {
  if (is_supported_version(major, minor)) return;
  throw Error(ErrorCode::no_compiler,
              "the NVRTC found is version " + std::to_string(major) + "." + std::to_string(minor) +
                  ", but 12.8 to 13.x is needed; install one with `pip install nvidia-cuda-nvrtc` "
                  "and set TILEJIT_NVRTC to its folder",
              library.string());
}

}  // namespace tilejit::compile
