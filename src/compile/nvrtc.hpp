#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operation/source.hpp"

namespace tilejit::compile {

/// Which NVRTC is used, found without loading it: the library has 100 MB and takes 6 ms to load,
/// and a cache hit must not pay for that.
struct CompilerId {
  std::filesystem::path path;  ///< the library file
  /// The library's ELF build id in hex, "65be0db3...", or "fnv1a64:..." (of its size, head and
  /// tail) if it has none; then '.' and the same for the builtins library that it would load. Equal
  /// bytes give equal texts.
  std::string build;
  bool operator==(const CompilerId&) const = default;
};

/// Finds NVRTC. The search order is
/// - `explicit_path` (a file or a folder); if it is given, nothing else is tried,
/// - a copy already loaded in the process,
/// - LD_LIBRARY_PATH,
/// - the folder of libtilejit itself,
/// - CUDA_HOME and CUDA_PATH (lib64, targets/*/lib), /usr/local/cuda*,
/// - the system's library folders, newest version first,
/// - the run path of the library or program,
/// - PyPI's wheels below VIRTUAL_ENV and the user's and the system's Python packages,
/// - the dynamic loader, the only place that cannot be searched without loading.
///
/// In a folder given as `explicit_path` it looks for libnvrtc.so.13, .so.12 and .so, there or below
/// it as a toolkit or a PyPI wheel places them. A version that is too old by its file name is taken
/// only if there is no other. Returns nullopt if nothing is found. Reads LD_LIBRARY_PATH,
/// CUDA_HOME, CUDA_PATH, VIRTUAL_ENV, PYTHONUSERBASE and HOME. With TILEJIT_NO_TOOLKIT=1 everything
/// below CUDA_HOME, CUDA_PATH and /usr/local/cuda* is ignored, and so is the loader.
[[nodiscard]] std::optional<CompilerId> find_nvrtc(const std::filesystem::path& explicit_path = {});

using operation::Source;

struct Compiled {
  std::string cubin;
  std::string ptx;  ///< only if asked for
  std::string log;  ///< warnings and, with verbose, ptxas' resource report; may be empty
  std::string compiler_version;  ///< "13.0"
  double milliseconds = 0;       ///< NVRTC's own time
  bool operator==(const Compiled&) const = default;
};

struct Request {
  Source source;
  std::string target;                ///< "sm_90a"
  std::vector<std::string> options;  ///< besides --gpu-architecture and default_options()
  bool want_ptx = false;
  bool operator==(const Request&) const = default;
};

/// NVRTC, loaded at run time. Thread-safe (NVRTC itself serialises its front end).
class Nvrtc {
 public:
  /// Loads the library, which then stays loaded. Throws Error{no_compiler} if it is not found (the
  /// message says where it looked and what to install), does not load, or is not of version 12.8 to
  /// 13.x.
  explicit Nvrtc(const std::filesystem::path& explicit_path = {});
  ~Nvrtc();
  Nvrtc(Nvrtc&&) noexcept;
  Nvrtc& operator=(Nvrtc&&) noexcept;

  [[nodiscard]] const CompilerId& id() const noexcept;
  [[nodiscard]] std::string version() const;  ///< "13.0"
  /// Architectures that it makes cubins for, from 75 on: 75, 80, ..., 121.
  [[nodiscard]] std::vector<int> supported_architectures() const;
  /// Throws Error{compile_failed} with the source's name as where() and the full log;
  /// Error{unsupported} for a target that it does not know (the message lists the known ones);
  /// Error{no_compiler} if its builtins library is missing.
  [[nodiscard]] Compiled compile(const Request& request) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Options of every compile: C++17, no change of the process's stack limit, includes of this
/// library only, and the language subset that compiles fastest. (compile() also turns off NVRTC's
/// own disk cache in versions that have one, since that cache empties the log. It does not change a
/// cubin.)
[[nodiscard]] const std::vector<std::string>& default_options();

}  // namespace tilejit::compile
