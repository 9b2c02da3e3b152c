#pragma once

#include <nvrtc.h>

#include <filesystem>
#include <string>
#include <type_traits>
#include <utility>

namespace tilejit::compile {

// clang-format off
/// Every NVRTC function that the library calls.
#define TILEJIT_NVRTC_API(X) \
  X(nvrtcVersion) X(nvrtcGetErrorString) X(nvrtcGetNumSupportedArchs) X(nvrtcGetSupportedArchs) \
  X(nvrtcCreateProgram) X(nvrtcDestroyProgram) X(nvrtcCompileProgram) \
  X(nvrtcGetProgramLogSize) X(nvrtcGetProgramLog) \
  X(nvrtcGetCUBINSize) X(nvrtcGetCUBIN) X(nvrtcGetPTXSize) X(nvrtcGetPTX)
// clang-format on

/// NVRTC as a table of functions; nothing is linked.
struct NvrtcApi {
#define TILEJIT_NVRTC_FIELD(fn) std::add_pointer_t<decltype(::fn)> fn = nullptr;
  TILEJIT_NVRTC_API(TILEJIT_NVRTC_FIELD)
#undef TILEJIT_NVRTC_FIELD
};

/// Loads `library` for the rest of the process. Throws Error{no_compiler} if it does not load or
/// lacks a function (which the message names).
[[nodiscard]] NvrtcApi load_nvrtc(const std::filesystem::path& library);

/// Loads the libnvrtc-builtins of `version` ("13.0") next to `library`, if there is one. NVRTC asks
/// the dynamic loader for it by its bare name, and the loader does not search a wheel's folder.
void load_builtins(const std::filesystem::path& library, const std::string& version);

/// Throws Error{no_compiler}, which names the version and `library`, unless that version is
/// supported.
void require_supported(int major, int minor, const std::filesystem::path& library);

/// An NVRTC program, destroyed by its destructor. `api` outlives it. Move-only.
class Program {
 public:
  Program(const NvrtcApi& api, nvrtcProgram program) noexcept : api_(&api), program_(program) {}
  ~Program() {
    if (program_ != nullptr) api_->nvrtcDestroyProgram(&program_);
  }
  Program(Program&& other) noexcept
      : api_(other.api_), program_(std::exchange(other.program_, nullptr)) {}
  Program& operator=(Program&&) = delete;

  [[nodiscard]] nvrtcProgram get() const noexcept { return program_; }

 private:
  const NvrtcApi* api_;
  nvrtcProgram program_;
};

}  // namespace tilejit::compile
