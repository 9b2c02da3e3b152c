#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "compile/message.hpp"
#include "compile/worker_process.hpp"

namespace tilejit::compile {

/// The path of the program `tilejit-worker`: next to the executable or this library, or in bin or
/// libexec of the folder above. Empty if there is none.
[[nodiscard]] std::filesystem::path find_worker();

struct WorkerOptions {
  std::filesystem::path program;
  Hello hello;
  WorkerLimits limits = {};
  /// How long an idle worker is kept.
  std::chrono::milliseconds idle{10000};
};

struct WorkerCounters {
  std::uint64_t alive = 0;
  std::uint64_t starts = 0, restarts = 0;
  std::uint64_t crashes = 0, timeouts = 0, out_of_memory = 0, rubbish = 0;
  std::uint64_t retries = 0;
};

/// Workers are not available. what() is part of a sentence that says why.
class NoWorkers : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Worker processes, one per compile that runs at the same time. They start when needed, are reused
/// for later kernels, and are replaced when they fail. Thread-safe.
class Workers {
 public:
  explicit Workers(WorkerOptions options);
  /// Ends all workers. No compile may be running.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Gives a kernel whose worker fails to another worker once, or several times if workers are
  /// killed from outside. Throws what the compile throws; Error{compile_failed} if workers failed;
  /// Error{cancelled} after stop(); NoWorkers.
  [[nodiscard]] Compiled compile(const Request& request);
  /// Ends running compiles soon.
  void stop() noexcept { stopped_ = true; }
  [[nodiscard]] WorkerCounters counters() const;

 private:
  using Clock = std::chrono::steady_clock;
  using WorkerPtr = std::unique_ptr<WorkerProcess>;
  struct Idle {
    WorkerPtr worker;
    Clock::time_point since;
  };

  WorkerPtr take(bool restart);
  WorkerPtr start(bool restart);
  void put_back(WorkerPtr worker);
  void count(const WorkerFailure& failure);
  void end_idle();

  const WorkerOptions options_;
  std::atomic<bool> stopped_{false};

  mutable std::mutex mutex_;  // guards what follows
  std::vector<Idle> idle_;    // the most recently used is last
  WorkerCounters counters_;
  bool closed_ = false;
  std::condition_variable changed_;  // signals changes of idle_ or closed_
  std::thread ender_;                // ends idle workers; started with the first worker
};

}  // namespace tilejit::compile
