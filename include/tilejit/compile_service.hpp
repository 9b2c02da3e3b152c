#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace tilejit {

struct Artifact;  // tilejit/compiler.hpp

namespace service {
struct Request;  // what a PendingArtifact stands for
}

/// What is compiled first.
enum class Priority : std::uint8_t {
  foreground,  ///< somebody waits for it
  background,  ///< warming: only if nothing of the foreground waits
};

/// The state of a request. The last three are final.
enum class CompileState : std::uint8_t { queued, running, done, failed, cancelled };
[[nodiscard]] std::string_view to_string(CompileState state) noexcept;

/// What compile_async does if Options::compile_queue kernels wait already.
enum class WhenFull : std::uint8_t {
  wait,    ///< until there is room, the deadline is over, or it is stopped
  refuse,  ///< throws Error{queue_full}
};

/// How a kernel is asked for.
struct CompileRequest {
  Priority priority = Priority::foreground;
  /// When the kernel is of no use any more: the request then fails with Error{deadline_exceeded}. A
  /// compile that has begun goes on, and the cache gets its kernel.
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  /// Called when the request runs, and when it has ended (the PendingArtifact is then ready), in
  /// threads of the library, or in the one that cancels or finds the deadline over. What it throws
  /// is dropped. Slow work here holds up other compiles.
  std::function<void(CompileState)> progress = {};
  /// Cancels the request, as PendingArtifact::cancel.
  std::stop_token stop = {};
  WhenFull when_full = WhenFull::wait;
  /// Name of the device whose knobs are taken from the tuning file; empty: the first that has any.
  std::string device = {};
};

/// A kernel that was asked for. Copies share the request. Thread-safe; may outlive its Compiler,
/// whose end cancels what is queued.
class PendingArtifact {
 public:
  /// Without a request: ready, and get() throws Error{cancelled}.
  PendingArtifact() = default;
  explicit PendingArtifact(std::shared_ptr<service::Request> request)
      : request_(std::move(request)) {}

  /// Waits. The artifact lives as long as any copy of this. Throws as Compiler::compile,
  /// Error{cancelled}, Error{deadline_exceeded}.
  [[nodiscard]] const Artifact& get() const;
  /// Waits until it is ready, for at most `time`. Returns whether it is.
  bool wait_for(std::chrono::nanoseconds time) const;
  /// Whether get() would return or throw at once.
  [[nodiscard]] bool ready() const;
  [[nodiscard]] CompileState state() const;
  /// Does nothing if it is ready. A compile that has not begun, and that nobody else wants, is
  /// dropped; one that runs goes on without this request, and the cache gets its kernel.
  void cancel() const;

 private:
  std::shared_ptr<service::Request> request_;
};

/// Durations, counted by size as in Prometheus' histograms, but not cumulative.
struct TimeHistogram {
  /// Upper bounds in milliseconds; the last count is that of longer durations.
  static constexpr std::array<double, 9> kBounds = {1, 3, 10, 30, 100, 300, 1000, 3000, 10000};
  std::array<std::uint64_t, kBounds.size() + 1> counts = {};
  double sum_ms = 0;

  void add(double milliseconds) noexcept;
  [[nodiscard]] std::uint64_t total() const noexcept;
};

/// What a Compiler's service does now, and did since construction. A job is a kernel that is being
/// asked for; any number of requests share it.
struct ServiceStats {
  // Now.
  std::uint64_t queued = 0;   ///< jobs
  std::uint64_t running = 0;  ///< jobs; looking into the cache included
  std::uint64_t workers = 0;  ///< worker processes alive

  // Requests of compile_async.
  std::uint64_t requests = 0;
  std::uint64_t joined = 0;     ///< of those: shared a job that was there
  std::uint64_t raised = 0;     ///< of those: a background job became one of the foreground
  std::uint64_t refused = 0;    ///< the queue was full
  std::uint64_t expired = 0;    ///< ended by their deadline
  std::uint64_t withdrawn = 0;  ///< ended by cancel() or a stop token

  // Jobs that have ended.
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  std::uint64_t cancelled = 0;  ///< never begun, since nobody wanted them any more

  // Calls of the compiler that succeeded, those of Compiler::compile included.
  std::uint64_t in_process = 0;
  std::uint64_t in_workers = 0;
  std::uint64_t retries = 0;  ///< a worker failed, and another was asked

  // Worker processes.
  std::uint64_t worker_starts = 0;
  std::uint64_t worker_restarts = 0;       ///< of those: to replace one that failed
  std::uint64_t worker_crashes = 0;        ///< died, or were killed from outside
  std::uint64_t worker_timeouts = 0;       ///< killed: Options::worker_timeout
  std::uint64_t worker_out_of_memory = 0;  ///< killed: Options::worker_memory_bytes
  std::uint64_t worker_rubbish = 0;        ///< killed: answered what cannot be understood

  // CompileEffort::tiered.
  std::uint64_t quick_builds = 0;   ///< kernels given out as quick builds
  std::uint64_t swaps = 0;          ///< of those: now the full build
  std::uint64_t swap_failures = 0;  ///< of those: stay quick, as the full build failed

  TimeHistogram waited;    ///< of jobs, from the first request until they ran
  TimeHistogram compiled;  ///< NVRTC's own time
};

}  // namespace tilejit
