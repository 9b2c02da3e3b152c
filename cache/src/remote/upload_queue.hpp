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

/// What waits to be done in the background for one key.
struct UploadJob {
  std::string key;
  std::string bytes;
  bool probe = false;  ///< only look whether the server is back
  bool retry = false;  ///< look by this upload whether it takes any again
};

/// A bounded queue and the one thread that works it off, started at the first job. Thread-safe.
class UploadQueue {
 public:
  struct Bounds {
    std::size_t jobs = 256;
    std::size_t bytes = 256u << 20;
  };
  /// Works a job off; gives up soon once `stopping()`.
  using Work = std::function<void(UploadJob& job)>;

  UploadQueue(Bounds bounds, Work work) : bounds_(bounds), work_(std::move(work)) {}
  ~UploadQueue() { (void)close(std::chrono::milliseconds(0)); }
  UploadQueue(const UploadQueue&) = delete;
  UploadQueue& operator=(const UploadQueue&) = delete;

  /// False, and the job is gone, if there is no room, or no thread to be had.
  [[nodiscard]] bool push(UploadJob job);
  /// Waits for all jobs, at most `patience`; whether all are done.
  [[nodiscard]] bool wait(std::chrono::milliseconds patience);
  /// Waits as above, then ends the thread. How many uploads were not begun. Nothing is pushed after
  /// it.
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
