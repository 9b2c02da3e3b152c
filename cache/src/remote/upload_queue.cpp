#include "remote/upload_queue.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace tilejit::cache {

bool UploadQueue::start() {
  if (thread_.joinable()) return true;
  // Signals are for the application's threads. This thread only receives those of its own faults.
  sigset_t others, before;
  sigfillset(&others);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF}) {
    sigdelset(&others, fault);
  }
  const bool masked = ::pthread_sigmask(SIG_BLOCK, &others, &before) == 0;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
  }
  if (masked) (void)::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread_.joinable();
}

bool UploadQueue::push(UploadJob job) {
  const std::lock_guard lock(mutex_);
  if (closed_ || jobs_.size() >= bounds_.jobs || job.bytes.size() > bounds_.bytes - bytes_ ||
      !start()) {
    return false;
  }
  bytes_ += job.bytes.size();
  jobs_.push_back(std::move(job));
  wake_.notify_one();
  return true;
}

void UploadQueue::run() {
  (void)::pthread_setname_np(::pthread_self(), "tilejit-upload");
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stopping() || !jobs_.empty(); });
    if (stopping()) return;
    UploadJob job = std::move(jobs_.front());
    jobs_.pop_front();
    busy_ = true;
    lock.unlock();
    work_(job);
    lock.lock();
    bytes_ -= job.bytes.size();
    busy_ = false;
    if (jobs_.empty()) idle_.notify_all();
  }
}

bool UploadQueue::wait(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  return idle_.wait_for(lock, patience, [&] { return jobs_.empty() && !busy_; });
}

std::size_t UploadQueue::close(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  closed_ = true;
  if (!thread_.joinable()) return 0;
  (void)idle_.wait_for(lock, patience, [&] { return jobs_.empty() && !busy_; });
  const auto dropped = static_cast<std::size_t>(
      std::count_if(jobs_.begin(), jobs_.end(), [](const UploadJob& job) { return !job.probe; }));
  jobs_.clear();
  stopping_ = true;
  wake_.notify_all();
  lock.unlock();
  thread_.join();
  return dropped;
}

}  // namespace tilejit::cache
