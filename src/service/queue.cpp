#include "service/queue.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "service/request.hpp"
#include "tilejit/error.hpp"

namespace tilejit::service {
namespace {

using Clock = Request::Clock;
using RequestPtr = std::shared_ptr<Request>;

/// One requested kernel. Guarded by the mutex of its queue. `work` and `priority` do not change
/// after the job starts.
struct Job {
  std::string key;
  Work work;
  Priority priority = Priority::foreground;
  std::vector<RequestPtr> requests = {};  ///< requests that have not ended
  Clock::time_point since = Clock::now();
  std::list<std::shared_ptr<Job>>::iterator place = {};  ///< valid while the job waits
  bool waits = true;
  bool runs = false;
};
using JobPtr = std::shared_ptr<Job>;

Outcome outcome_of(const Work& work, Priority priority) {
  try {
    return {.artifact = std::make_shared<const Artifact>(work(priority))};
  } catch (...) {
    return {.state = CompileState::failed, .error = std::current_exception()};
  }
}

void settle_all(const std::vector<RequestPtr>& requests, const Outcome& outcome) {
  for (const RequestPtr& request : requests) request->settle(outcome);
}

}  // namespace

/// Shared by the queue and, weakly, by requests, which may outlive it. Never calls a request while
/// it holds its mutex.
class Queue::Core : public std::enable_shared_from_this<Queue::Core> {
 public:
  Core(int threads, std::size_t capacity)
      : most_threads_(static_cast<std::size_t>(std::max(1, threads))),
        capacity_(std::max<std::size_t>(1, capacity)) {}

  PendingArtifact submit(const std::string& key, CompileRequest wish, Work work);
  void close();
  void join();
  ServiceStats stats() const;

 private:
  void wait_for_room(std::unique_lock<std::mutex>& lock, const std::string& key,
                     const CompileRequest& wish);
  void attach(const JobPtr& job, const RequestPtr& request);
  void enqueue(JobPtr job);
  void raise(const JobPtr& job);
  void start_thread();
  void leave(const std::weak_ptr<Job>& weak, Request& request, Leave why);
  void work();
  JobPtr pop();
  bool begin(const JobPtr& job);
  void run(const JobPtr& job);
  std::list<JobPtr>& line(Priority priority) { return waiting_[static_cast<int>(priority)]; }
  std::size_t queued() const { return waiting_[0].size() + waiting_[1].size(); }

  const std::size_t most_threads_;
  const std::size_t capacity_;

  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable more_;
  std::condition_variable_any room_;
  std::unordered_map<std::string, JobPtr> jobs_;  // jobs that wait or run
  std::array<std::list<JobPtr>, 2> waiting_;      // by priority
  std::vector<std::thread> threads_;
  ServiceStats stats_;
  bool closed_ = false;
};

PendingArtifact Queue::Core::submit(const std::string& key, CompileRequest wish, Work work) {
  auto request = std::make_shared<Request>(std::move(wish));
  {
    std::unique_lock lock(mutex_);
    ++stats_.requests;
    wait_for_room(lock, key, request->wish);
    const auto found = jobs_.find(key);
    if (found != jobs_.end()) {
      attach(found->second, request);
      ++stats_.joined;
      if (request->wish.priority == Priority::foreground) raise(found->second);
    } else {
      auto job = std::make_shared<Job>(
          Job{.key = key, .work = std::move(work), .priority = request->wish.priority});
      attach(job, request);
      enqueue(std::move(job));
    }
  }
  request->heed_stop();
  return PendingArtifact(std::move(request));
}

void Queue::Core::wait_for_room(std::unique_lock<std::mutex>& lock, const std::string& key,
                                const CompileRequest& wish) {
  const auto goes_on = [&] { return closed_ || jobs_.contains(key) || queued() < capacity_; };
  if (!goes_on() && wish.when_full == WhenFull::refuse) {
    ++stats_.refused;
    throw Error(ErrorCode::queue_full, std::to_string(capacity_) +
                                           " kernels wait to be compiled already; ask again later, "
                                           "or set Options::compile_queue higher");
  }
  const auto end = wish.deadline.value_or(Clock::time_point::max());
  if (!room_.wait_until(lock, wish.stop, end, goes_on)) {
    const bool stopped = wish.stop.stop_requested();
    ++(stopped ? stats_.withdrawn : stats_.expired);
    throw Error(stopped ? ErrorCode::cancelled : ErrorCode::deadline_exceeded,
                "the queue of compiles had no room for the kernel");
  }
  if (closed_) throw Error(ErrorCode::cancelled, "the Compiler takes no more requests");
}

void Queue::Core::attach(const JobPtr& job, const RequestPtr& request) {
  request->leave = [core = weak_from_this(), weak = std::weak_ptr<Job>(job)](Request& self,
                                                                             Leave why) {
    if (const auto queue = core.lock()) queue->leave(weak, self, why);
  };
  if (job->runs) request->starts_running();
  job->requests.push_back(request);
}

void Queue::Core::enqueue(JobPtr job) {
  std::list<JobPtr>& jobs = line(job->priority);
  job->place = jobs.insert(jobs.end(), job);
  const auto added = jobs_.emplace(job->key, job).first;
  try {
    if (queued() + stats_.running > threads_.size()) start_thread();
  } catch (...) {
    jobs.erase(job->place);
    jobs_.erase(added);
    throw;
  }
  more_.notify_one();
}

void Queue::Core::raise(const JobPtr& job) {
  if (!job->waits || job->priority == Priority::foreground) return;
  std::list<JobPtr>& jobs = line(Priority::foreground);
  jobs.splice(jobs.end(), line(job->priority), job->place);
  job->priority = Priority::foreground;
  ++stats_.raised;
}

void Queue::Core::start_thread() {
  if (threads_.size() == most_threads_) return;
  try {
    threads_.emplace_back([this] { work(); });
  } catch (const std::system_error& error) {
    if (!threads_.empty()) return;  // fewer threads are enough
    throw Error(ErrorCode::queue_full,
                std::string("no thread can be started to compile: ") + error.what());
  }
}

void Queue::Core::leave(const std::weak_ptr<Job>& weak, Request& request, Leave why) {
  const std::lock_guard lock(mutex_);
  ++(why == Leave::expired ? stats_.expired : stats_.withdrawn);
  const JobPtr job = weak.lock();
  if (!job) return;
  std::erase_if(job->requests, [&](const RequestPtr& other) { return other.get() == &request; });
  if (!job->requests.empty() || !job->waits) return;
  line(job->priority).erase(job->place);
  jobs_.erase(job->key);
  ++stats_.cancelled;
  room_.notify_all();
}

JobPtr Queue::Core::pop() {
  std::list<JobPtr>& jobs = waiting_[0].empty() ? waiting_[1] : waiting_[0];
  JobPtr job = std::move(jobs.front());
  jobs.pop_front();
  job->waits = false;
  ++stats_.running;
  room_.notify_all();
  return job;
}

void Queue::Core::work() {
  for (;;) {
    JobPtr job;
    {
      std::unique_lock lock(mutex_);
      more_.wait(lock, [this] { return closed_ || queued() > 0; });
      if (closed_) return;
      job = pop();
    }
    if (begin(job)) run(job);
  }
}

/// Returns false if no request wants the job any more.
bool Queue::Core::begin(const JobPtr& job) {
  std::vector<RequestPtr> requests;
  {
    const std::lock_guard lock(mutex_);
    requests = job->requests;
  }
  const auto now = Clock::now();
  for (const RequestPtr& request : requests) request->expire(now);
  {
    const std::lock_guard lock(mutex_);
    if (job->requests.empty()) {
      jobs_.erase(job->key);
      --stats_.running;
      ++stats_.cancelled;
      return false;
    }
    job->runs = true;
    stats_.waited.add(std::chrono::duration<double, std::milli>(now - job->since).count());
    requests = job->requests;
  }
  for (const RequestPtr& request : requests) request->begin();
  return true;
}

void Queue::Core::run(const JobPtr& job) {
  const Outcome outcome = outcome_of(job->work, job->priority);
  std::vector<RequestPtr> requests;
  {
    const std::lock_guard lock(mutex_);
    jobs_.erase(job->key);
    requests.swap(job->requests);
    --stats_.running;
    ++(outcome.error ? stats_.failed : stats_.done);
  }
  job->work = {};
  settle_all(requests, outcome);
}

void Queue::Core::close() {
  std::vector<RequestPtr> requests;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    for (std::list<JobPtr>& jobs : waiting_) {
      for (const JobPtr& job : jobs) {
        job->waits = false;
        jobs_.erase(job->key);
        ++stats_.cancelled;
        std::ranges::move(std::exchange(job->requests, {}), std::back_inserter(requests));
      }
      jobs.clear();
    }
  }
  more_.notify_all();
  room_.notify_all();
  settle_all(requests, {.state = CompileState::cancelled,
                        .error = std::make_exception_ptr(
                            Error(ErrorCode::cancelled, "the Compiler ended before the kernel"))});
}

void Queue::Core::join() {
  for (std::thread& thread : threads_) thread.join();
}

ServiceStats Queue::Core::stats() const {
  const std::lock_guard lock(mutex_);
  ServiceStats stats = stats_;
  stats.queued = queued();
  return stats;
}

Queue::Queue(int threads, std::size_t capacity)
    : core_(std::make_shared<Core>(threads, capacity)) {}

Queue::~Queue() {
  core_->close();
  core_->join();
}

PendingArtifact Queue::submit(const std::string& key, CompileRequest wish, Work work) {
  return core_->submit(key, std::move(wish), std::move(work));
}

void Queue::close() {
  core_->close();
}

ServiceStats Queue::stats() const {
  return core_->stats();
}

}  // namespace tilejit::service
