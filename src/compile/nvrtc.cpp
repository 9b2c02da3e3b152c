#include "compile/nvrtc.hpp"

#include <algorithm>
#include <chrono>

#include "compile/nvrtc_api.hpp"
#include "compile/search.hpp"
#include "tilejit/error.hpp"

namespace tilejit::compile {
namespace {

CompilerId find_or_throw(const std::filesystem::path& explicit_path) {
  SearchResult search = search_nvrtc(explicit_path);
  if (search.found) return std::move(*search.found);
  std::string places;
  for (const auto& place : search.looked_in) places += (places.empty() ? "" : ", ") + place;
  throw Error(
      ErrorCode::no_compiler,
      "NVRTC (libnvrtc.so, CUDA 12.8 or later) was not found; install it with `pip install --user "
      "--break-system-packages nvidia-cuda-nvrtc` (in a virtual environment `pip install "
      "nvidia-cuda-nvrtc`) or the CUDA toolkit, or set TILEJIT_NVRTC to the library or its "
      "folder; looked in " +
          places);
}

// The first line of the log that tells the fault.
std::string first_error(const std::string& log) {
  const std::size_t found = log.find("error");
  if (found == std::string::npos) return log.substr(0, log.find('\n'));
  const std::size_t newline = log.rfind('\n', found);
  const std::size_t begin = newline == std::string::npos ? 0 : newline + 1;
  return log.substr(begin, log.find('\n', found) - begin);
}

}  // namespace

struct Nvrtc::Impl {
  explicit Impl(const std::filesystem::path& explicit_path)
      : id(find_or_throw(explicit_path)), api(load_nvrtc(id.path)) {
    check(api.nvrtcVersion(&major, &minor), "nvrtcVersion");
    require_supported(major, minor, id.path);
    load_builtins(id.path, version());
  }

  // Checks calls that fail only if NVRTC itself is broken or out of memory.
  void check(nvrtcResult result, const char* call) const {
    if (result == NVRTC_SUCCESS) return;
    throw Error(ErrorCode::compile_failed,
                std::string(call) + " failed: " + api.nvrtcGetErrorString(result),
                id.path.string());
  }

  std::string version() const { return std::to_string(major) + "." + std::to_string(minor); }
  std::vector<int> architectures() const;
  std::vector<std::string> targets() const;
  void require_target(const std::string& target) const;

  std::vector<std::string> options(const Request& request) const;
  Program create(const Source& source) const;
  [[noreturn]] void fail(nvrtcResult result, const Request& request, std::string log) const;

  // Reads one of NVRTC's texts: one call for the size, one for the bytes.
  template <class Size, class Get>
  std::string text(const Program& program, Size size_of, Get get) const {
    std::size_t size = 0;
    check(size_of(program.get(), &size), "asking NVRTC for a size");
    std::string bytes(size, '\0');
    if (size > 0) check(get(program.get(), bytes.data()), "asking NVRTC for a result");
    return bytes;
  }
  std::string log_of(const Program& program) const;
  std::string ptx_of(const Program& program) const;

  CompilerId id;
  NvrtcApi api;
  int major = 0;
  int minor = 0;
};

std::vector<int> Nvrtc::Impl::architectures() const {
  int count = 0;
  check(api.nvrtcGetNumSupportedArchs(&count), "nvrtcGetNumSupportedArchs");
  std::vector<int> archs(static_cast<std::size_t>(count));
  check(api.nvrtcGetSupportedArchs(archs.data()), "nvrtcGetSupportedArchs");
  // NVRTC 12 also knows older ones, which this library does not support.
  std::erase_if(archs, [](int arch) { return arch < 75; });
  return archs;
}

// NVRTC only lists numbers. Architecture-specific features ('a') exist from 9.0 on, family-specific
// ones ('f') from 10.0 and NVRTC 12.9 on (CUDA C++ Programming Guide, "Feature set compiler
// targets").
std::vector<std::string> Nvrtc::Impl::targets() const {
  const bool has_families = major > 12 || minor >= 9;
  std::vector<std::string> names;
  for (const int arch : architectures()) {
    const std::string name = "sm_" + std::to_string(arch);
    names.push_back(name);
    if (arch >= 90) names.push_back(name + "a");
    if (arch >= 100 && has_families) names.push_back(name + "f");
  }
  return names;
}

void Nvrtc::Impl::require_target(const std::string& target) const {
  const std::vector<std::string> known = targets();
  if (std::find(known.begin(), known.end(), target) != known.end()) return;
  std::string list;
  for (const auto& name : known) list += (list.empty() ? "" : ", ") + name;
  throw Error(ErrorCode::unsupported, "NVRTC " + version() + " does not know the target '" +
                                          target.substr(0, 40) + "'; use one of " + list);
}

std::vector<std::string> Nvrtc::Impl::options(const Request& request) const {
  std::vector<std::string> all = {"--gpu-architecture=" + request.target};
  all.insert(all.end(), default_options().begin(), default_options().end());
  // The option came with the cache, in 12.9. A hit of that cache has an empty log.
  if (major > 12 || minor >= 9) all.push_back("--no-cache");
  all.insert(all.end(), request.options.begin(), request.options.end());
  return all;
}

Program Nvrtc::Impl::create(const Source& source) const {
  std::vector<const char*> names, texts;
  for (const auto& [name, text] : source.headers) {
    names.push_back(name.c_str());
    texts.push_back(text.c_str());
  }
  nvrtcProgram program = nullptr;
  check(api.nvrtcCreateProgram(&program, source.text.c_str(), source.name.c_str(),
                               static_cast<int>(names.size()), texts.data(), names.data()),
        "nvrtcCreateProgram");
  return {api, program};
}

void Nvrtc::Impl::fail(nvrtcResult result, const Request& request, std::string log) const {
  if (result == NVRTC_ERROR_BUILTIN_OPERATION_FAILURE) {
    throw Error(ErrorCode::no_compiler,
                "NVRTC cannot load libnvrtc-builtins.so." + version() +
                    ", which belongs into the same folder; install NVRTC again",
                id.path.string());
  }
  const std::string reason =
      log.empty() ? std::string(api.nvrtcGetErrorString(result)) : first_error(log);
  throw Error(ErrorCode::compile_failed,
              "NVRTC " + version() + " could not compile for " + request.target + ": " + reason,
              request.source.name, std::move(log));
}

std::string Nvrtc::Impl::log_of(const Program& program) const {
  std::string log = text(program, api.nvrtcGetProgramLogSize, api.nvrtcGetProgramLog);
  log.resize(log.find_last_not_of(std::string_view("\0\n", 2)) + 1);
  return log;
}

std::string Nvrtc::Impl::ptx_of(const Program& program) const {
  std::string ptx = text(program, api.nvrtcGetPTXSize, api.nvrtcGetPTX);
  ptx.resize(ptx.find_last_not_of('\0') + 1);  // the size counts a terminator
  return ptx;
}

Nvrtc::Nvrtc(const std::filesystem::path& explicit_path)
    : impl_(std::make_unique<Impl>(explicit_path)) {}
Nvrtc::~Nvrtc() = default;
Nvrtc::Nvrtc(Nvrtc&&) noexcept = default;
Nvrtc& Nvrtc::operator=(Nvrtc&&) noexcept = default;

const CompilerId& Nvrtc::id() const noexcept {
  return impl_->id;
}

std::string Nvrtc::version() const {
  return impl_->version();
}

std::vector<int> Nvrtc::supported_architectures() const {
  return impl_->architectures();
}

Compiled Nvrtc::compile(const Request& request) const {
  impl_->require_target(request.target);
  const Program program = impl_->create(request.source);
  const std::vector<std::string> options = impl_->options(request);
  std::vector<const char*> argv;
  for (const auto& option : options) argv.push_back(option.c_str());

  const NvrtcApi& api = impl_->api;
  const auto start = std::chrono::steady_clock::now();
  const nvrtcResult result =
      api.nvrtcCompileProgram(program.get(), static_cast<int>(argv.size()), argv.data());
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;

  Compiled compiled;
  compiled.compiler_version = impl_->version();
  compiled.milliseconds = elapsed.count();
  compiled.log = impl_->log_of(program);
  if (result != NVRTC_SUCCESS) impl_->fail(result, request, std::move(compiled.log));
  compiled.cubin = impl_->text(program, api.nvrtcGetCUBINSize, api.nvrtcGetCUBIN);
  if (request.want_ptx) compiled.ptx = impl_->ptx_of(program);
  return compiled;
}

const std::vector<std::string>& default_options() {
  static const std::vector<std::string> options = {
      "-std=c++17",
      "--modify-stack-limit=false",  // the limit applies to the whole process
      "--no-source-include",         // otherwise files in the working directory could be included
      // Leaves out textures, the device runtime and CUDA's types, which our kernels do not use.
      // They take 6 of the 35 ms that NVRTC 13.0 needs for an empty kernel (measured).
      "--minimal",
  };
  return options;
}

}  // namespace tilejit::compile
