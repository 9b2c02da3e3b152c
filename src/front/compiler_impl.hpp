#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

#include "compile/nvrtc.hpp"
#include "compile/pool.hpp"
#include "front/compile_options.hpp"
#include "front/line_info.hpp"
#include "front/requests.hpp"
#include "operation/descriptor.hpp"
#include "service/queue.hpp"
#include "tilejit/cache/store.hpp"
#include "tilejit/compiler.hpp"
#include "tilejit/tune.hpp"

namespace tilejit {

namespace front {

/// The results of the steps before the key, and the time that they took.
struct Planned {
  operation::Plan plan;
  double milliseconds = 0;
};
/// The examples that `op` gives its symbols.
[[nodiscard]] SymbolValues examples_of(const Operation& op);
/// Throws what `validate` throws.
[[nodiscard]] Planned make_planned(const Operation& op, const Target& target);

inline constexpr const char* kCompilers = "compilers";  ///< marker kind: compilers' build ids

[[nodiscard]] CacheTier tier_of(cache::Tier tier) noexcept;
[[nodiscard]] cache::Trust trust_of(const Options& options) noexcept;
/// The key, read from a PEM file, that bundles must be signed by; nothing for an empty path. Throws
/// Error{invalid_argument} if the file holds no such key.
[[nodiscard]] std::optional<cache::PublicKey> bundle_signer(const std::filesystem::path& path);

/// The request to NVRTC for a plan.
[[nodiscard]] compile::Request make_request(const operation::Plan& plan, Effort effort);

/// How a kernel is compiled.
struct Manner {
  Effort effort = Effort::full;
  compile::Urgency urgency = compile::Urgency::high;
};

/// Counters of tiered builds (CompileEffort::tiered).
struct TierCounters {
  std::atomic<std::uint64_t> quick_builds = 0, swaps = 0, swap_failures = 0;
};

}  // namespace front

struct Compiler::Impl {
  explicit Impl(Options settings);
  /// Cancels queued compiles, waits for those running in this process, and ends workers.
  ~Impl();

  /// As make_planned, but with the knobs that the tuning file has for the device, if they can be
  /// honoured. `device` is the device's name and may be empty. Thread-safe.
  [[nodiscard]] front::Planned plan(const Operation& op, const Target& target,
                                    std::string_view device);
  /// The knobs and their plan; nothing if the file has none, or if `op` pins its own.
  struct Tuned {
    Tuning tuning;
    operation::Plan plan;
  };
  [[nodiscard]] std::optional<Tuned> find_tuned(const Operation& op, const front::Planned& planned,
                                                std::string_view device);
  /// Read at the first request. Thread-safe.
  [[nodiscard]] const TuningFile& tuning_file();
  /// The cubin of a plan, through the cache. Throws as Compiler::compile, except that a MissError
  /// does not name the nearest kernel. Thread-safe.
  [[nodiscard]] Artifact compile(const front::Planned& planned, front::Manner manner = {});
  /// The same in a thread of the queue. Throws as service::Queue::submit.
  [[nodiscard]] PendingArtifact submit(front::Planned planned, front::Effort effort,
                                       CompileRequest request);
  /// The same for a caller who asked for `op`. A MissError names the kernel that is nearest at the
  /// time of this call. It is counted and recorded once for all requests that share the compile.
  [[nodiscard]] PendingArtifact submit(const Operation& op, front::Planned planned,
                                       CompileRequest request);
  /// The entry that the cache has; never compiles. Thread-safe.
  [[nodiscard]] std::optional<Artifact> find(const front::Planned& planned, front::Effort effort);
  [[nodiscard]] KeyExplanation explain(const front::Planned& planned, front::Effort effort) const;
  [[nodiscard]] Location locate(const front::Planned& planned, front::Effort effort);
  /// The effort of compiles that are not tiered.
  [[nodiscard]] front::Effort effort() const noexcept { return front::effort_of(options); }
  [[nodiscard]] ServiceStats stats() const;
  /// NVRTC, loaded by the first call that succeeds. Throws Error{no_compiler}. Thread-safe.
  [[nodiscard]] const compile::Nvrtc& nvrtc();

  const Options options;
  cache::Store store;
  front::Requests requests;
  front::TierCounters tiers;

 private:
  /// The compilers whose kernels may be used: the installed one; without it, those that have filled
  /// the cache, newest first; without those, an empty one.
  [[nodiscard]] std::vector<std::string> builds() const;
  /// Without a compiler: an entry made by any compiler that has filled this folder.
  [[nodiscard]] std::optional<Artifact> find_of_any_compiler(const front::Planned& planned,
                                                             front::Effort effort, StepTimes times);
  [[nodiscard]] Artifact find_or_make(const front::Planned& planned, const std::string& build,
                                      front::Manner manner, StepTimes times);
  [[nodiscard]] cache::Entry make(const operation::Plan& plan, const KeyExplanation& key,
                                  front::Manner manner, StepTimes& times);
  [[nodiscard]] compile::PoolOptions pool_options();
  [[nodiscard]] Artifact work(const front::Planned& planned, front::Effort effort,
                              Priority priority);
  void keep(const std::string& key, const operation::Source& source,
            const compile::Compiled& compiled);
  /// Warns once if the disassembler is missing or fails; throws no Error for it.
  void keep_sass(const std::string& key, const std::string& cubin);
  [[nodiscard]] front::LineInfo line_info() const noexcept;

  std::once_flag sass_warned_;
  std::once_flag tuning_read_;
  TuningFile tuning_;
  const compile::CompilerId installed_;  // the compiler that would be used; empty if there is none
  std::mutex mutex_;                     // guards what follows, which is constant once it is made
  std::optional<compile::Nvrtc> nvrtc_;
  compile::Pool pool_;
  service::Queue queue_;  // last: its threads use all members above
};

}  // namespace tilejit
