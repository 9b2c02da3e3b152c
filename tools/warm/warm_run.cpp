#include "warm/warm_run.hpp"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>

#include "common/interrupt.hpp"
#include "common/progress.hpp"
#include "common/sentence.hpp"
#include "tilejit/error.hpp"

namespace tilejit::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// One job that the service was asked for. `mutex_` guards all that its callback writes.
struct Flight {
  const WarmJob* job = nullptr;
  PendingArtifact pending = {};
  Clock::time_point begin = {};  // when it began to run
  bool running = false, over = false;
};

class WarmRun {
 public:
  WarmRun(Compiler& compiler, const WarmList& list, const std::vector<const WarmJob*>& missing,
          const WarmRules& rules, Trace& trace)
      : compiler_(compiler),
        list_(list),
        missing_(missing),
        rules_(rules),
        trace_(trace),
        progress_(rules.quiet),
        lanes_(static_cast<std::size_t>(rules.jobs), nullptr) {
    // Processes that warm the same list start at different places in it, and so share the work.
    if (!missing.empty()) {
      first_ = static_cast<std::size_t>(::getpid()) * 0x9e3779b1u % missing.size();
    }
  }

  WarmOutcome run() {
    while (!stopping() && next_ < missing_.size()) {
      while (!stopping() && next_ < missing_.size() && flights_.size() < window()) ask();
      wait();
    }
    while (!flights_.empty()) {
      if (stopping()) drop_queued();
      wait();
    }
    progress_.end();
    if (fatal_) std::rethrow_exception(fatal_);
    return std::move(outcome_);
  }

 private:
  [[nodiscard]] std::size_t window() const noexcept {
    return 2 * static_cast<std::size_t>(rules_.jobs) + 2;
  }

  bool stopping() {
    if (outcome_.signal == 0 && (outcome_.signal = InterruptScope::signal()) != 0) {
      progress_.say("stopping: what is being compiled now is finished and kept");
    }
    return outcome_.signal != 0 || fatal_ || (!outcome_.failures.empty() && !rules_.keep_going);
  }

  void drop_queued() {
    for (const auto& flight : flights_) {
      if (flight->pending.state() == CompileState::queued) flight->pending.cancel();
    }
  }

  void ask() {
    auto flight = std::make_unique<Flight>();
    flight->job = missing_[(first_ + next_++) % missing_.size()];
    const CompileRequest request{
        .priority = Priority::background,
        .progress = [this, flight = flight.get()](CompileState state) { note(*flight, state); },
        .device = flight->job->device};
    try {
      flight->pending =
          compiler_.compile_async(list_.op_of(*flight->job), flight->job->target, request);
      flights_.push_back(std::move(flight));
    } catch (const Error& error) {
      fail(*flight->job, error);
    }
  }

  // Called on threads of the service.
  void note(Flight& flight, CompileState state) {
    const std::lock_guard lock(mutex_);
    if (state == CompileState::running) {
      flight.running = true;
      flight.begin = Clock::now();
    } else {
      flight.over = true;
    }
    changed_ = true;
    wake_.notify_one();
  }

  // Waits until something has changed, or until it is time to draw and to look for signals.
  void wait() {
    std::vector<std::unique_ptr<Flight>> over;
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, std::chrono::milliseconds(100), [&] { return changed_; });
      changed_ = false;
      take_lanes();
      for (auto& flight : flights_) {
        if (flight->over) over.push_back(std::move(flight));
      }
      std::erase(flights_, nullptr);
      show();
    }
    for (const auto& flight : over) land(*flight);
  }

  // Gives each running job a row of the trace.
  void take_lanes() {
    for (const auto& flight : flights_) {
      if (!flight->running || std::ranges::count(lanes_, flight->job) > 0) continue;
      const auto free = std::ranges::find(lanes_, nullptr);
      if (free != lanes_.end()) *free = flight->job;
    }
  }

  void show() {
    ProgressState state{.done = outcome_.done(),
                        .failed = outcome_.failures.size(),
                        .total = missing_.size(),
                        .now = {}};
    for (const auto& flight : flights_) {
      if (!flight->running) continue;
      state.now += (state.now.empty() ? "" : ", ") + name_of(list_, *flight->job);
    }
    progress_.show(state);
  }

  void land(const Flight& flight) {
    const auto lane = std::ranges::find(lanes_, flight.job);
    const auto now = Clock::now();
    const Trace::Span span{
        .name = name_of(list_, *flight.job),
        .begin = flight.running ? flight.begin : now,
        .end = now,
        .lane = static_cast<std::size_t>(lane == lanes_.end() ? 0 : lane - lanes_.begin())};
    if (lane != lanes_.end()) *lane = nullptr;
    try {
      const Artifact& artifact = flight.pending.get();
      count(artifact);
      trace_.add(span, artifact);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::cancelled) return;
      if (error.code() == ErrorCode::no_compiler) {
        fatal_ = std::current_exception();
        return;
      }
      fail(*flight.job, error);
      trace_.add_failed(span, outcome_.failures.back().error);
    }
  }

  void count(const Artifact& artifact) {
    outcome_.nvrtc_ms += artifact.times.nvrtc;
    switch (artifact.tier) {
      case CacheTier::compiled: ++outcome_.compiled; break;
      case CacheTier::remote: ++outcome_.fetched; break;
      default: ++outcome_.found;
    }
  }

  void fail(const WarmJob& job, const Error& error) {
    const std::string log = error.log().empty() ? "" : "\n" + error.log();
    outcome_.failures.push_back({name_of(list_, job), sentence(error) + log});
    progress_.say(outcome_.failures.back().name + " failed");
  }

  Compiler& compiler_;
  const WarmList& list_;
  const std::vector<const WarmJob*>& missing_;
  const WarmRules& rules_;
  Trace& trace_;
  Progress progress_;
  std::vector<const WarmJob*> lanes_;
  WarmOutcome outcome_;
  std::size_t first_ = 0, next_ = 0;
  std::vector<std::unique_ptr<Flight>> flights_;
  std::exception_ptr fatal_;  // set if nothing can be compiled

  std::mutex mutex_;  // guards the members below, and what a Flight's callback writes
  std::condition_variable wake_;
  bool changed_ = false;
};

}  // namespace

WarmOutcome run_warm(Compiler& compiler, const WarmList& list,
                     const std::vector<const WarmJob*>& missing, const WarmRules& rules,
                     Trace& trace) {
  return WarmRun(compiler, list, missing, rules, trace).run();
}

}  // namespace tilejit::cli
