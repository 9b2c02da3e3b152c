#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tilejit/cache/remote_options.hpp"
#include "tilejit/miss.hpp"

namespace tilejit {

/// A compile that took longer than Options::slow_compile.
struct SlowCompile {
  std::string kernel;
  Target target;
  double milliseconds = 0;  ///< of rendering, compiling and publishing
};

/// What is kept beside a cache entry for people to read: "<key>.cu", "<key>.ptx", "<key>.log",
/// "<key>.sass".
struct CacheKeep {
  bool source = false;  ///< the CUDA source, in one file
  bool ptx = false;
  bool log = false;   ///< the compiler's
  bool sass = false;  ///< by nvdisasm or cuobjdump; one warning if there is neither
};

/// What NVRTC's optimiser is asked for. Kernels of each kind have keys of their own.
enum class CompileEffort : std::uint8_t {
  full,
  quick,   ///< `--Ofast-compile=min`: compiles somewhat faster; the kernels may be slower
  tiered,  ///< of a Runtime: launches what is not cached as its quick build until the full one is
           ///< there, which is compiled in the background. Elsewhere: full
};

/// Settings of a Compiler or Runtime. docs/environment.md has the table of variables.
struct Options {
  /// Folder of the disk cache. Empty optional: memory only.
  std::optional<std::filesystem::path> cache_folder = {};
  /// Read-only folders and bundles, asked in this order after `cache_folder`. Missing or unusable
  /// ones are skipped.
  std::vector<std::filesystem::path> cache_path = {};
  /// A hit there that took as long or longer is copied into `cache_folder`: a mount over a network
  /// is slow, and may go away. 0: every hit; max(): none.
  std::chrono::microseconds cache_copy_after = std::chrono::milliseconds(1);
  /// File of an Ed25519 public key in PEM that bundles must be signed by. Empty: they need not be.
  std::filesystem::path cache_bundle_key = {};
  /// Uses cache folders of other users too, and those that others may write to: whoever writes
  /// there decides what runs on the GPU.
  bool cache_trust_anyone = false;
  /// A server that is asked last; empty url: none (docs/remote-cache.md).
  cache::RemoteOptions cache_remote = {};
  /// Bound of the cache's memory tier, in bytes.
  std::size_t cache_memory_bytes = 256u << 20;
  /// Bounds of `cache_folder`, kept by a pass in the background about once an hour: bytes, and time
  /// since an entry was last used. 0: none.
  std::uint64_t cache_max_bytes = std::uint64_t{4} << 30;
  std::chrono::seconds cache_max_age = {};
  /// What is kept of kernels compiled from now on, in `cache_folder`.
  CacheKeep cache_keep = {};
  /// File of tuned knobs that compiles consult (docs/tuning.md, "Tuning files"); a missing file
  /// is empty, a damaged one is ignored, with one warning. Empty optional: none.
  std::optional<std::filesystem::path> tuning_file = {};
  /// NVRTC's library file or its folder; empty: searched for.
  std::filesystem::path nvrtc_path = {};
  /// Profilers and debuggers show lines of the source, which is kept by CacheKeep::source. Such
  /// kernels have keys of their own; they run no slower.
  bool line_info = false;
  CompileEffort compile_effort = CompileEffort::full;
  /// The same kernels for the same calls at any time: `tiered` is `full`.
  bool deterministic = false;
  /// Kernels compiled at a time. 0: the processors of this process, at most 16.
  int compile_jobs = 0;
  /// Of those, how many in this process at most; worker processes do the others
  /// (docs/compiling.md). 0: all in workers.
  int compile_threads = 2;
  /// Kernels that may wait for compile_async; further requests wait or are refused (WhenFull).
  std::size_t compile_queue = 4096;
  /// The program `tilejit-worker`; empty: beside the executable, or where this library is
  /// installed. Without one, threads of this process do its work.
  std::filesystem::path worker_path = {};
  /// What one kernel may take before its worker is killed: time, and memory in bytes (0: any).
  std::chrono::milliseconds worker_timeout = std::chrono::minutes(1);
  std::uint64_t worker_memory_bytes = std::uint64_t{4} << 30;
  /// What happens for a kernel that no tier of the cache has.
  MissPolicy miss_policy = MissPolicy::allow;
  /// Whether Runtime::compile(op, stream) may compile while the stream is being captured.
  bool compile_in_capture = true;
  /// A file to which every descriptor that is asked for is appended once (docs/deploying.md,
  /// "Manifests"). Empty: none.
  std::filesystem::path record = {};
  /// Longer compiles are counted, warned of and passed to `on_slow_compile`; 0: none.
  std::chrono::milliseconds slow_compile = std::chrono::seconds(2);
  /// Called by the thread that asked, or by one of the service. What it throws reaches whoever
  /// asked.
  std::function<void(const SlowCompile&)> on_slow_compile = {};
  /// Whether descriptors that the C interface and the command read as JSON may bring CUDA source;
  /// of C++ programs, SpecOptions::allow_source says it where they read JSON.
  bool allow_source = false;
  /// Device ordinal of a Runtime.
  int device = 0;

  /// Reads TILEJIT_CACHE_DIR (else XDG_CACHE_HOME/tilejit, else HOME/.cache/tilejit; "off" means
  /// memory only), TILEJIT_CACHE_PATH (folders and bundles, between colons),
  /// TILEJIT_CACHE_COPY_AFTER_MS (0 or more, or "off"), TILEJIT_CACHE_BUNDLE_KEY,
  /// TILEJIT_CACHE_REMOTE and its relatives with AWS's variables, TILEJIT_CACHE_MAX_SIZE ("4G"),
  /// TILEJIT_CACHE_MAX_AGE ("30d"), TILEJIT_CACHE_KEEP ("source,ptx,log,sass"), TILEJIT_LINE_INFO
  /// and TILEJIT_CACHE_TRUST_ANYONE (0 or 1), TILEJIT_TUNING (else tuning.jsonl in the cache
  /// folder; "off" means none), TILEJIT_NVRTC, TILEJIT_COMPILE_EFFORT ("full", "quick", "tiered"),
  /// TILEJIT_DETERMINISTIC (0 or 1), TILEJIT_COMPILE_JOBS, TILEJIT_COMPILE_THREADS, TILEJIT_WORKER,
  /// TILEJIT_WORKER_TIMEOUT ("60s"), TILEJIT_WORKER_MEMORY ("4G"), TILEJIT_MISS ("allow", "warn",
  /// "error", "fallback"), TILEJIT_COMPILE_IN_CAPTURE (0 or 1), TILEJIT_RECORD,
  /// TILEJIT_SLOW_COMPILE_MS, TILEJIT_ALLOW_SOURCE (0 or 1) and TILEJIT_DEVICE. The library reads
  /// no environment elsewhere. Throws Error{invalid_argument}, where() the variable, for a value
  /// that it cannot have; warns once if none names a folder.
  [[nodiscard]] static Options from_env();
};

}  // namespace tilejit
