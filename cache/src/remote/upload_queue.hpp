#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace tilejit::cache {

/// Background work for one key.
struct UploadJob {
  std::string key;
  std::string bytes;
  bool probe = false;  ///< only checks whether the server is back
  bool retry = false;  ///< this upload checks whether the server accepts any again
};

/// A bounded queue and its one thread, which starts with the first job. Thread-safe.
class UploadQueue {
 public:
  struct Bounds {
    std::size_t jobs = 256;
    std::size_t bytes = 256u << 20;
  };
  /// Does a job. Gives up soon after `stopping()` is true.
  using Work = std::function<void(UploadJob& job)>;

  UploadQueue(Bounds bounds, Work work) : bounds_(bounds), work_(std::move(work)) {}
  ~UploadQueue() { (void)close(std::chrono::milliseconds(0)); }
  UploadQueue(const UploadQueue&) = delete;
  UploadQueue& operator=(const UploadQueue&) = delete;

  /// Returns false and drops the job if there is no room or no thread can be started.
  [[nodiscard]] bool push(UploadJob job);
  /// Waits at most `patience` for all jobs. Returns whether all are done.
  [[nodiscard]] bool wait(std::chrono::milliseconds patience);
  /// Waits likewise, then ends the thread. Returns the number of uploads that were not begun.
  /// Nothing may be pushed afterwards.
  [[nodiscard]] std::size_t close(std::chrono::milliseconds patience);

  [[nodiscard]] bool stopping() const noexcept { return stopping_.load(std::memory_order_relaxed); }

 private:
  void run();
  [[nodiscard]] bool start();

  const Bounds bounds_;
  const Work work_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_, idle_;
  std::deque<UploadJob> jobs_;
  std::size_t bytes_ = 0;
  bool busy_ = false;
  bool closed_ = false;
  std::thread thread_;
  std::atomic<bool> stopping_ = false;
};

}  // namespace tilejit::cache
