#include "compile/workers.hpp"

#include <optional>
#include <system_error>
#include <utility>

#include "tilejit/error.hpp"

namespace tilejit::compile {
namespace {

using Kind = WorkerFailure::Kind;

/// Workers that one kernel may use up: those that fail by themselves, and those killed from
/// outside.
constexpr int kMostFaults = 2;
constexpr int kMostKills = 10;

/// The workers that one kernel has used up so far.
class Cost {
 public:
  /// Throws when the limit is reached.
  void add(const WorkerFailure& failure) {
    if (failure.kind() == Kind::stopped) {
      throw Error(ErrorCode::cancelled, "the Compiler ended before the kernel");
    }
    const bool killed = failure.kind() == Kind::killed;
    if (killed ? ++kills_ < kMostKills : ++faults_ < kMostFaults) return;
    throw Error(ErrorCode::compile_failed,
                std::string("the kernel could not be compiled: ") + failure.what() +
                    (killed ? ", as others before it; see who ends processes here"
                            : "; it was the second that failed on this kernel; allow more time or "
                              "memory (Options::worker_timeout, Options::worker_memory_bytes), or "
                              "try another version of NVRTC"));
  }

 private:
  int faults_ = 0, kills_ = 0;
};

}  // namespace

Workers::Workers(WorkerOptions options) : options_(std::move(options)) {}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  if (ender_.joinable()) ender_.join();
  // Kills all of them before waiting for any, so that they end at the same time.
  for (const Idle& idle : idle_) idle.worker->kill();
}

Compiled Workers::compile(const Request& request) {
  Cost cost;
  for (bool again = false;; again = true) {
    std::optional<Reply> reply;
    try {
      WorkerPtr worker = take(again);
      reply = worker->ask(request);
      put_back(std::move(worker));
    } catch (const WorkerFailure& failure) {
      count(failure);
      cost.add(failure);
      const std::lock_guard lock(mutex_);
      ++counters_.retries;
      continue;
    }
    if (reply->refusal) throw to_error(*reply->refusal);
    return std::move(reply->compiled);
  }
}

Workers::WorkerPtr Workers::take(bool restart) {
  for (;;) {
    WorkerPtr worker;
    {
      const std::lock_guard lock(mutex_);
      if (idle_.empty()) break;
      worker = std::move(idle_.back().worker);
      idle_.pop_back();
    }
    if (worker->alive()) return worker;
    const std::lock_guard lock(mutex_);
    --counters_.alive;
    ++counters_.crashes;
    restart = true;
  }
  return start(restart);
}

/// Tries once more if a worker does not get ready, unless it used up all its time.
Workers::WorkerPtr Workers::start(bool restart) {
  for (bool again = false;; again = true) {
    {
      const std::lock_guard lock(mutex_);
      ++counters_.alive;
      ++counters_.starts;
      if (restart || again) ++counters_.restarts;
    }
    try {
      return std::make_unique<WorkerProcess>(options_.program, options_.hello, options_.limits,
                                             stopped_);
    } catch (const WorkerFailure& failure) {
      // The caller counts failures that came from outside.
      if (failure.kind() == Kind::killed || failure.kind() == Kind::stopped) throw;
      count(failure);
      const bool hopeless = failure.kind() == Kind::unusable || failure.kind() == Kind::timed_out;
      if (hopeless || again) throw NoWorkers(failure.what());
    }
  }
}

void Workers::put_back(WorkerPtr worker) {
  {
    const std::lock_guard lock(mutex_);
    idle_.push_back({std::move(worker), Clock::now()});
    if (!ender_.joinable()) {
      try {
        ender_ = std::thread([this] { end_idle(); });
      } catch (const std::system_error&) {  // then idle workers are kept longer
      }
    }
  }
  changed_.notify_all();
}

void Workers::count(const WorkerFailure& failure) {
  const std::lock_guard lock(mutex_);
  --counters_.alive;
  switch (failure.kind()) {
    case Kind::crashed:
    case Kind::killed: ++counters_.crashes; break;
    case Kind::timed_out: ++counters_.timeouts; break;
    case Kind::out_of_memory: ++counters_.out_of_memory; break;
    case Kind::rubbish: ++counters_.rubbish; break;
    case Kind::unusable:
    case Kind::stopped: break;
  }
}

/// The first in the list has been idle the longest.
void Workers::end_idle() {
  std::unique_lock lock(mutex_);
  while (!closed_) {
    if (idle_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const auto end = idle_.front().since + options_.idle;
    if (Clock::now() < end) {
      changed_.wait_until(lock, end);
      continue;
    }
    WorkerPtr ended = std::move(idle_.front().worker);
    idle_.erase(idle_.begin());
    --counters_.alive;
    lock.unlock();
    ended.reset();
    lock.lock();
  }
}

WorkerCounters Workers::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

}  // namespace tilejit::compile
