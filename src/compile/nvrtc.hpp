#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilejit::compile {

/// Where NVRTC is, found without loading it: the library is 100 MB and takes 6 ms to load, and a
/// cache hit must not pay for that.
struct CompilerId {
  std::filesystem::path path;  ///< the library file
  std::string build;           ///< its ELF build id in hex, e.g. "65be0db3..."; the same for the same bytes
};

/// Looks in this order: `explicit_path` (a file or a folder), a copy already loaded in the process,
/// LD_LIBRARY_PATH, the folder of libtilejit itself, CUDA_HOME and CUDA_PATH (lib64, targets/*/lib),
/// /usr/local/cuda*, the system's library folders (newest version first), then the dynamic loader.
/// With an `explicit_path` only that is tried. Nothing found: nullopt.
[[nodiscard]] std::optional<CompilerId> find_nvrtc(const std::filesystem::path& explicit_path = {});

struct Source {
  std::string name;  ///< shown in the log, e.g. "add_f16.cu"
  std::string text;
  std::vector<std::pair<std::string, std::string>> headers;  ///< include name, text
};

struct Compiled {
  std::string cubin;
  std::string ptx;  ///< only if asked for
  std::string log;  ///< warnings and, with verbose, ptxas' resource report; may be empty
  double milliseconds = 0;
};

struct Request {
  Source source;
  std::string target;                ///< "sm_90a"
  std::vector<std::string> options;  ///< beside --gpu-architecture
  bool want_ptx = false;
};

/// NVRTC, loaded at run time. Thread-safe (NVRTC itself serialises its front end).
class Nvrtc {
 public:
  /// Loads the library. Throws Error{no_compiler} that says where was looked and what to install.
  explicit Nvrtc(const std::filesystem::path& explicit_path = {});
  ~Nvrtc();
  Nvrtc(Nvrtc&&) noexcept;
  Nvrtc& operator=(Nvrtc&&) noexcept;

  [[nodiscard]] const CompilerId& id() const noexcept;
  [[nodiscard]] std::string version() const;  ///< "13.0"
  /// Virtual numbers it accepts: 75, 80, ..., 121.
  [[nodiscard]] std::vector<int> supported_architectures() const;
  /// Throws Error{compile_failed} with the log, Error{unsupported} for a target that it does not know
  /// (the message lists those it knows).
  [[nodiscard]] Compiled compile(const Request& request) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Options every compile of ours gets: no disk cache of NVRTC's (it empties the log), no change of
/// the process's stack limit, C++17, our includes only.
[[nodiscard]] const std::vector<std::string>& default_options();

}  // namespace tilejit::compile
