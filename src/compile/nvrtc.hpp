#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operation/source.hpp"

namespace tilejit::compile {

/// Where NVRTC is, found without loading it: the library is 100 MB and takes 6 ms to load, and a
/// cache hit must not pay for that.
struct CompilerId {
  std::filesystem::path path;  ///< the library file
  /// Its ELF build id in hex, "65be0db3...", or "fnv1a64:..." (of its size, head and tail) if it
  /// has none; then, after a '.', the same of the builtins library that it would load. The same for
  /// the same bytes.
  std::string build;
  bool operator==(const CompilerId&) const = default;
};

/// Looks in this order: `explicit_path` (a file or a folder), a copy already loaded in the process,
/// LD_LIBRARY_PATH, the folder of libtilejit itself, CUDA_HOME and CUDA_PATH (lib64,
/// targets/*/lib), /usr/local/cuda*, the system's library folders (newest version first), the run
/// path of the library or program, PyPI's wheels below VIRTUAL_ENV and the user's and the system's
/// Python packages, then the dynamic loader (the one place that can be asked only by loading). A
/// version too old, if a file name tells, is passed over unless there is no other. With an
/// `explicit_path` only that is tried: the file, or libnvrtc.so.13, .so.12, .so in the folder or
/// below it as a toolkit or a PyPI wheel places them. Nothing found: nullopt. Reads
/// LD_LIBRARY_PATH, CUDA_HOME, CUDA_PATH, VIRTUAL_ENV, PYTHONUSERBASE and HOME. With
/// TILEJIT_NO_TOOLKIT=1 nothing below CUDA_HOME, CUDA_PATH and /usr/local/cuda* is found, and the
/// loader is not asked.
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
  std::vector<std::string> options;  ///< beside --gpu-architecture and default_options()
  bool want_ptx = false;
  bool operator==(const Request&) const = default;
};

/// NVRTC, loaded at run time. Thread-safe (NVRTC itself serialises its front end).
class Nvrtc {
 public:
  /// Loads the library, which then stays loaded. Throws Error{no_compiler}: not found (says where
  /// was looked and what to install), does not load, or is not of version 12.8 to 13.x.
  explicit Nvrtc(const std::filesystem::path& explicit_path = {});
  ~Nvrtc();
  Nvrtc(Nvrtc&&) noexcept;
  Nvrtc& operator=(Nvrtc&&) noexcept;

  [[nodiscard]] const CompilerId& id() const noexcept;
  [[nodiscard]] std::string version() const;  ///< "13.0"
  /// Architectures it makes cubins for, of those from 75 on: 75, 80, ..., 121.
  [[nodiscard]] std::vector<int> supported_architectures() const;
  /// Throws Error{compile_failed}, where() the source's name, with the log in full;
  /// Error{unsupported} for a target that it does not know (the message lists those it knows);
  /// Error{no_compiler} if its builtins library is missing.
  [[nodiscard]] Compiled compile(const Request& request) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Options every compile of ours gets: C++17, no change of the process's stack limit, our includes
/// only, and the small language that compiles fastest. (NVRTC's own disk cache, which empties the
/// log, is turned off by compile() where the version has one: that does not change a cubin.)
[[nodiscard]] const std::vector<std::string>& default_options();

}  // namespace tilejit::compile
