#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilejit/compile_service.hpp"
#include "tilejit/metrics.hpp"
#include "tilejit/operation.hpp"
#include "tilejit/options.hpp"
#include "tilejit/target.hpp"

namespace tilejit {

/// The plan of `op` for `target` as JSON: iteration space, access and vector width of each operand,
/// launch shape, typed program; and under "figures" what follows from it: thread-value layouts,
/// bytes in flight and moved, the predicted limit (docs/figures.md). Sizes take symbols' examples.
/// If `op` gives a thread-value layout, "without_tv" has the figures of the library's own plan.
/// Pure and deterministic. Throws what `validate` throws.
[[nodiscard]] std::string render_plan(const Operation& op, const Target& target);
/// A few lines of the plan, for people.
[[nodiscard]] std::string describe_plan(const Operation& op, const Target& target);

/// CUDA source as NVRTC gets it, in one self-contained file. Pure and deterministic to the byte.
[[nodiscard]] std::string render_source(const Operation& op, const Target& target);

/// Only the generated header, `plan.cuh`, that the template includes.
[[nodiscard]] std::string render_header(const Operation& op, const Target& target);

namespace cache {
class Store;  // tilejit/cache/store.hpp
}
namespace launch {
struct Internals;
}

/// The key under which the cache knows an operation.
struct KeyExplanation {
  std::string key;     ///< 64 hex digits: SHA-256 of `fields`
  std::string fields;  ///< canonical JSON of everything that the cubin depends on
};

/// Which tier of the cache answered.
enum class CacheTier : std::uint8_t {
  memory,
  disk,
  read_only,  ///< a folder or bundle of Options::cache_path
  remote,     ///< a server
  compiled,
};
[[nodiscard]] std::string_view to_string(CacheTier tier) noexcept;

/// Where the cache has a kernel.
struct Location {
  std::string key;                     ///< as of KeyExplanation
  std::optional<CacheTier> tier = {};  ///< empty: it would be compiled, or fetched from a remote
};

/// Milliseconds of each step; 0 for steps that were not needed.
struct StepTimes {
  double plan = 0;     ///< checking, typing, planning
  double key = 0;      ///< canonical text and SHA-256
  double lookup = 0;   ///< memory and disk, reading and verifying included
  double render = 0;   ///< source text
  double nvrtc = 0;    ///< the compiler itself
  double publish = 0;  ///< writing the entry to the disk
  double load = 0;     ///< into the driver (Runtime only)
};

/// A compiled operation, not loaded.
struct Artifact {
  std::string key;          ///< 64 hex digits
  std::string kernel_name;  ///< entry point in the cubin
  Target target;
  CacheTier tier = CacheTier::compiled;
  std::shared_ptr<const std::string> cubin;  ///< never null
  std::shared_ptr<const std::string>
      metadata;  ///< JSON: key fields, registers, spills, compile times
  StepTimes times;
};

/// PTX and the compiler's messages, for people. Not cached.
struct Listing {
  std::string cubin;
  std::string ptx;
  std::string log;  ///< NVRTC's log with ptxas' resource report
};

/// The NVRTC that would compile.
struct NvrtcInfo {
  std::string path;
  std::string version;         ///< "13.0"
  std::string build;           ///< ELF build id
  std::vector<int> supported;  ///< 75, 80, ...
};

/// Makes cubins of specs, through the cache. Needs no GPU and no driver. Thread-safe: concurrent
/// requests for one key compile once. Only a miss loads NVRTC.
class Compiler {
 public:
  /// Looks for NVRTC without loading it; its absence is an error of the call that needs it. An
  /// unusable cache folder does not throw: it causes a warning, and artifacts are kept in memory.
  /// Throws Error{invalid_argument} only if Options::cache_bundle_key is no key, or the url of
  /// Options::cache_remote cannot be used.
  explicit Compiler(Options options = Options::from_env());
  ~Compiler();
  Compiler(Compiler&&) noexcept;
  Compiler& operator=(Compiler&&) noexcept;

  /// `device`, here and below, names the device whose knobs are taken from the tuning file, as its
  /// Runtime takes them; if it is empty or has none: those of the first that has been tuned
  /// (TuningFile::find). Throws what `validate` throws; Error{no_compiler} on a miss without NVRTC,
  /// or if a remote must have every kernel; Error{compile_failed}; MissError if nothing may be
  /// compiled (Options::miss_policy, seal); Error{unsupported} for a target that NVRTC does not
  /// know.
  [[nodiscard]] Artifact compile(const Operation& op, const Target& target,
                                 std::string_view device = {});
  /// Compiles in a thread of the Compiler's own, Options::compile_jobs at a time. Plans in the
  /// calling thread, then queues and returns. Requests for one kernel share one job; a foreground
  /// request moves a queued background job to the foreground. Throws what `validate` throws, and
  /// Error{queue_full}, Error{deadline_exceeded} or Error{cancelled} if the queue is full
  /// (WhenFull); PendingArtifact::get throws everything else.
  [[nodiscard]] PendingArtifact compile_async(const Operation& op, const Target& target,
                                              CompileRequest request = {});
  [[nodiscard]] ServiceStats service_stats() const;
  /// From now on, for ever, serves only descriptors that were asked for before, by their text. Any
  /// other is a MissError after a look into memory alone. Nothing is compiled whatever
  /// Options::miss_policy says.
  void seal() noexcept;
  [[nodiscard]] bool sealed() const noexcept;
  [[nodiscard]] Metrics metrics() const;
  /// `op` with the knobs that `compile` would take from the tuning file. Throws what `validate`
  /// throws.
  [[nodiscard]] Operation tuned(const Operation& op, const Target& target,
                                std::string_view device = {});
  /// Names of the devices of `target` for which the tuning file has knobs, in their order. Their
  /// kernels may differ: whoever compiles ahead compiles for each of them.
  [[nodiscard]] std::vector<std::string> tuned_devices(const Target& target) const;
  /// Compiles without the cache and keeps PTX and the resource report. Throws as compile.
  [[nodiscard]] Listing listing(const Operation& op, const Target& target);
  /// Loads NVRTC. Throws Error{no_compiler}.
  [[nodiscard]] NvrtcInfo nvrtc();
  [[nodiscard]] const Options& options() const noexcept;
  /// The key under which `compile` looks for `op`; does not look. Without NVRTC: with the compiler
  /// that last filled the cache, if one has. Throws what `validate` throws.
  [[nodiscard]] KeyExplanation explain(const Operation& op, const Target& target,
                                       std::string_view device = {}) const;
  /// Where `compile` would find `op`. Reads of a file only what says that it is whole
  /// (Store::locate); does not ask a remote. Throws what `validate` throws.
  [[nodiscard]] Location locate(const Operation& op, const Target& target,
                                std::string_view device = {}) const;
  /// The cache: counters, and whatever else is stored under a key of 64 hex digits.
  [[nodiscard]] cache::Store& cache() const noexcept;

 private:
  friend class Runtime;
  friend struct launch::Internals;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilejit
