#include "compile/pool.hpp"

#include <algorithm>
#include <utility>

#include "tilejit/error.hpp"
#include "tilejit/version.hpp"

namespace tilejit::compile {

/// A taken place, given back at the end of the scope.
class Pool::Taken {
 public:
  Taken(Pool& pool, Urgency urgency) : pool_(pool), place_(pool.take(urgency)) {}
  ~Taken() { pool_.give_back(place_); }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  [[nodiscard]] Place place() const noexcept { return place_; }

 private:
  Pool& pool_;
  const Place place_;
};

Pool::Pool(PoolOptions options) : options_(std::move(options)) {}
Pool::~Pool() = default;

Compiled Pool::compile(const Request& request, Urgency urgency) {
  for (;;) {
    const Taken taken(*this, urgency);
    try {
      Compiled compiled = compile_at(taken.place(), request);
      const std::lock_guard lock(mutex_);
      ++(taken.place() == Place::here ? counters_.in_process : counters_.in_workers);
      counters_.compiled.add(compiled.milliseconds);
      return compiled;
    } catch (const NoWorkers& none) {
      do_without_workers(none.what());
    }
  }
}

Compiled Pool::compile_at(Place place, const Request& request) {
  if (place == Place::here) return options_.nvrtc().compile(request);
  return workers().compile(request);
}

/// True if there is a free place of that kind.
bool Pool::has(Place place) const {
  const int threads =
      without_workers_ ? options_.jobs : std::clamp(options_.threads, 0, options_.jobs);
  if (place == Place::here) return taken_[0] < threads;
  return taken_[1] < options_.jobs - threads;
}

Pool::Place Pool::take(Urgency urgency) {
  std::unique_lock lock(mutex_);
  int& waits = waits_[static_cast<int>(urgency)];
  ++waits;
  free_.wait(lock, [&] {
    const bool first = urgency == Urgency::high || waits_[0] == 0;
    return stopped_ || (first && (has(Place::here) || has(Place::worker)));
  });
  --waits;
  if (stopped_) throw Error(ErrorCode::cancelled, "the Compiler ended before the kernel");
  const Place place = has(Place::here) ? Place::here : Place::worker;
  ++taken_[static_cast<int>(place)];
  return place;
}

void Pool::give_back(Place place) {
  {
    const std::lock_guard lock(mutex_);
    --taken_[static_cast<int>(place)];
  }
  free_.notify_all();
}

Workers& Pool::workers() {
  const CompilerId compiler = options_.compiler();
  const std::lock_guard lock(mutex_);
  if (workers_) return *workers_;
  const auto program = options_.program.empty() ? find_worker() : options_.program;
  if (program.empty()) {
    throw NoWorkers(
        "the program tilejit-worker was not found beside this one; install it, or set "
        "TILEJIT_WORKER to it");
  }
  workers_ = std::make_unique<Workers>(
      WorkerOptions{.program = program,
                    .hello = {.version = std::string(version()), .compiler = compiler},
                    .limits = options_.limits});
  return *workers_;
}

void Pool::do_without_workers(const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(without_workers_, true)) return;
  }
  free_.notify_all();
  if (options_.warn) options_.warn("kernels are compiled by threads of this process alone: " + why);
}

void Pool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    if (workers_) workers_->stop();
  }
  free_.notify_all();
}

PoolCounters Pool::counters() const {
  const std::lock_guard lock(mutex_);
  PoolCounters counters = counters_;
  if (workers_) counters.workers = workers_->counters();
  return counters;
}

}  // namespace tilejit::compile
