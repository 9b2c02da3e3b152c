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

/// Where the program `tilejit-worker` is: beside the executable or this library, or in bin or
/// libexec of the folder that holds theirs. Empty if there is none.
[[nodiscard]] std::filesystem::path find_worker();

struct WorkerOptions {
  std::filesystem::path program;
  Hello hello;
  WorkerLimits limits = {};
  /// How long a worker that has nothing to do is kept.
  std::chrono::milliseconds idle{10000};
};

struct WorkerCounters {
  std::uint64_t alive = 0;
  std::uint64_t starts = 0, restarts = 0;
  std::uint64_t crashes = 0, timeouts = 0, out_of_memory = 0, rubbish = 0;
  std::uint64_t retries = 0;
};

/// Workers cannot be had at all. what() is a sentence's part that says why.
class NoWorkers : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Worker processes, as many as compile at a time: started when they are needed, kept for the next
/// kernel, replaced when they fail. Thread-safe.
class Workers {
 public:
  explicit Workers(WorkerOptions options);
  /// Ends all workers. No compile may run.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// A kernel whose worker fails is given to another one once; where workers were killed from
  /// outside, several times. Throws what the compile throws, Error{compile_failed} if workers
  /// failed, Error{cancelled} after stop(), NoWorkers.
  [[nodiscard]] Compiled compile(const Request& request);
  /// Ends what runs, soon.
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
  std::vector<Idle> idle_;    // the last one used last
  WorkerCounters counters_;
  bool closed_ = false;
  std::condition_variable changed_;  // idle_ or closed_
  std::thread ender_;                // of idle workers; started with the first
};

}  // namespace tilejit::compile
