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
/// bytes in flight and moved, the predicted limit (docs/planning.md). Sizes take symbols' examples.
/// Where `op` gives a thread-value layout, "without_tv" has the figures of the library's own plan.
/// Pure and deterministic. Throws what `validate` throws.
[[nodiscard]] std::string render_plan(const Operation& op, const Target& target);
/// The same for people: a few lines.
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

/// What the cache knows an operation by.
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
  std::optional<CacheTier> tier = {};  ///< nothing: it would be compiled, or fetched from a remote
};

/// Milliseconds of each step; 0 for steps that were not needed.
struct StageTimes {
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
  StageTimes times;
};

/// PTX and the compiler's messages, for people. Not cached.
struct Listing {
  std::string cubin;
  std::string ptx;
  std::string log;  ///< NVRTC's log with ptxas' resource report
};

/// What is known of the NVRTC that would compile.
struct NvrtcInfo {
  std::string path;
  std::string version;         ///< "13.0"
  std::string build;           ///< ELF build id
  std::vector<int> supported;  ///< 75, 80, ...
};

/// spec -> cubin, through the cache. Needs no GPU and no driver. Thread-safe: concurrent requests
/// for one key compile once. NVRTC is loaded at the first miss only.
class Compiler {
 public:
  /// Looks for NVRTC without loading it; its absence is an error of the call that needs it. Nor
  /// does a cache folder that cannot be used throw: it warns and keeps artifacts in memory. Throws
  /// Error{invalid_argument} only if Options::cache_bundle_key is no key, or the url of
  /// Options::cache_remote cannot be used.
  explicit Compiler(Options options = Options::from_env());
  ~Compiler();
  Compiler(Compiler&&) noexcept;
  Compiler& operator=(Compiler&&) noexcept;

  /// `device`, here and below: name of the device whose knobs the tuning file is asked for, as its
  /// Runtime asks; empty, or one without any: the first that has been tuned (TuningFile::find).
  /// Throws what `validate` throws; Error{no_compiler} on a miss without NVRTC, or where a remote
  /// must have every kernel; Error{compile_failed}; MissError where nothing may be compiled
  /// (Options::miss_policy, seal); Error{unsupported} for a target that NVRTC does
  /// not know.
  [[nodiscard]] Artifact compile(const Operation& op, const Target& target,
                                 std::string_view device = {});
  /// The same by a thread of the Compiler's own, Options::compile_jobs at a time. Plans here, then
  /// queues and returns. Requests for one kernel share one job; a foreground request makes a queued
  /// one of the background its own. Throws what `validate` throws, and Error{queue_full},
  /// Error{deadline_exceeded} or Error{cancelled} where the queue is full (WhenFull); everything
  /// else is PendingArtifact::get's.
  [[nodiscard]] PendingArtifact compile_async(const Operation& op, const Target& target,
                                              CompileRequest request = {});
  [[nodiscard]] ServiceStats service_stats() const;
  /// From now on only descriptors are served that were asked for before, by their text; any other
  /// is a MissError after a look into memory alone, and nothing is compiled whatever
  /// Options::miss_policy says. For ever.
  void seal() noexcept;
  [[nodiscard]] bool sealed() const noexcept;
  [[nodiscard]] Metrics metrics() const;
  /// `op` with the knobs that `compile` would take from the tuning file. Throws what `validate`
  /// throws.
  [[nodiscard]] Operation tuned(const Operation& op, const Target& target,
                                std::string_view device = {});
  /// Names of the devices of `target` that the tuning file has knobs for, in their order. Whoever
  /// compiles ahead compiles for each of them: their kernels may differ.
  [[nodiscard]] std::vector<std::string> tuned_devices(const Target& target) const;
  /// Compiles without the cache and keeps PTX and the resource report. Throws as compile.
  [[nodiscard]] Listing listing(const Operation& op, const Target& target);
  /// Loads NVRTC. Throws Error{no_compiler}.
  [[nodiscard]] NvrtcInfo nvrtc();
  [[nodiscard]] const Options& options() const noexcept;
  /// The key under which `compile` looks for `op`, without looking. Without NVRTC: by the compiler
  /// that last filled the cache, if one has. Throws what `validate` throws.
  [[nodiscard]] KeyExplanation explain(const Operation& op, const Target& target,
                                       std::string_view device = {}) const;
  /// Where `compile` would find `op`, told without reading it: of a file only what says that it is
  /// whole (Store::locate); a remote is not asked. Throws what `validate` throws.
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
