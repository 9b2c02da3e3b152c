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

/// The steps before the key, and what they took.
struct Planned {
  operation::Plan plan;
  double milliseconds = 0;
};
/// The examples that `op` gives its symbols.
[[nodiscard]] SymbolValues examples_of(const Operation& op);
/// Throws what `validate` throws.
[[nodiscard]] Planned make_planned(const Operation& op, const Target& target);

inline constexpr const char* kCompilers = "compilers";  ///< kind of markers: compilers' build ids

[[nodiscard]] CacheTier tier_of(cache::Tier tier) noexcept;
[[nodiscard]] cache::Trust trust_of(const Options& options) noexcept;
/// The key in a PEM file that bundles must be signed by; nothing for an empty path. Throws
/// Error{invalid_argument} if it is none.
[[nodiscard]] std::optional<cache::PublicKey> bundle_signer(const std::filesystem::path& path);

/// What NVRTC is asked to do for a plan.
[[nodiscard]] compile::Request make_request(const operation::Plan& plan, Effort effort);

/// How a kernel is compiled.
struct Manner {
  Effort effort = Effort::full;
  compile::Urgency urgency = compile::Urgency::high;
};

/// What the tiers of builds did (CompileEffort::tiered).
struct TierCounters {
  std::atomic<std::uint64_t> quick_builds = 0, swaps = 0, swap_failures = 0;
};

}  // namespace front

struct Compiler::Impl {
  explicit Impl(Options settings);
  /// Cancels what is queued, waits for what runs in this process, and ends workers.
  ~Impl();

  /// As make_planned, with the knobs that the tuning file has for the device (its name, may be
  /// empty), if they can be honoured. Thread-safe.
  [[nodiscard]] front::Planned plan(const Operation& op, const Target& target,
                                    std::string_view device);
  /// Those knobs and their plan; nothing if there are none, or `op` pins its own.
  struct Tuned {
    Tuning tuning;
    operation::Plan plan;
  };
  [[nodiscard]] std::optional<Tuned> find_tuned(const Operation& op, const front::Planned& planned,
                                                std::string_view device);
  /// Read at the first request. Thread-safe.
  [[nodiscard]] const TuningFile& tuning_file();
  /// The cubin of a plan, through the cache. Throws as Compiler::compile; a MissError knows no
  /// nearest kernel. Thread-safe.
  [[nodiscard]] Artifact compile(const front::Planned& planned, front::Manner manner = {});
  /// The same by a thread of the queue. Throws as service::Queue::submit.
  [[nodiscard]] PendingArtifact submit(front::Planned planned, front::Effort effort,
                                       CompileRequest request);
  /// The same for a caller who asked for `op`: a MissError knows the nearest kernel of now, and is
  /// counted and recorded; once for all requests that share the compile.
  [[nodiscard]] PendingArtifact submit(const Operation& op, front::Planned planned,
                                       CompileRequest request);
  /// What the cache has, without compiling. Thread-safe.
  [[nodiscard]] std::optional<Artifact> find(const front::Planned& planned, front::Effort effort);
  [[nodiscard]] KeyExplanation explain(const front::Planned& planned, front::Effort effort) const;
  [[nodiscard]] Location locate(const front::Planned& planned, front::Effort effort);
  /// Of compiles that are not tiered.
  [[nodiscard]] front::Effort effort() const noexcept { return front::effort_of(options); }
  [[nodiscard]] ServiceStats stats() const;
  /// NVRTC, loaded by the first call that succeeds. Throws Error{no_compiler}. Thread-safe.
  [[nodiscard]] const compile::Nvrtc& nvrtc();

  const Options options;
  cache::Store store;
  front::Requests requests;
  front::TierCounters tiers;

 private:
  /// Of the compilers whose kernels may be used: the one that is installed, else those that have
  /// filled the cache, the newest first, else an empty one.
  [[nodiscard]] std::vector<std::string> builds() const;
  /// Without a compiler: an entry made by any of those that have filled this folder.
  [[nodiscard]] std::optional<Artifact> find_of_any_compiler(const front::Planned& planned,
                                                             front::Effort effort,
                                                             StageTimes times);
  [[nodiscard]] Artifact find_or_make(const front::Planned& planned, const std::string& build,
                                      front::Manner manner, StageTimes times);
  [[nodiscard]] cache::Entry make(const operation::Plan& plan, const KeyExplanation& key,
                                  front::Manner manner, StageTimes& times);
  [[nodiscard]] compile::PoolOptions pool_options();
  [[nodiscard]] Artifact work(const front::Planned& planned, front::Effort effort,
                              Priority priority);
  void keep(const std::string& key, const operation::Source& source,
            const compile::Compiled& compiled);
  /// Never throws for want of a disassembler, nor for its failures: warns of the first.
  void keep_sass(const std::string& key, const std::string& cubin);
  [[nodiscard]] front::LineInfo line_info() const noexcept;

  std::once_flag sass_warned_;
  std::once_flag tuning_read_;
  TuningFile tuning_;
  const compile::CompilerId installed_;  // that would compile; empty if there is none
  std::mutex mutex_;                     // guards what follows, which is constant once made
  std::optional<compile::Nvrtc> nvrtc_;
  compile::Pool pool_;
  service::Queue queue_;  // last: its threads use all of the above
};

}  // namespace tilejit
