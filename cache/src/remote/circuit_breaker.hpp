#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

namespace tilejit::cache {

/// Remembers that a server failed, so that later requests do not wait for it: open means "do not
/// ask". Thread-safe and lock-free. Checking a closed breaker is one load.
class CircuitBreaker {
 public:
  /// Opens for `interval` after a failure; 0: for ever.
  explicit CircuitBreaker(std::chrono::milliseconds interval) noexcept : interval_(interval) {}

  [[nodiscard]] bool open() const noexcept {
    return retry_at_.load(std::memory_order_relaxed) != kClosed;
  }
  void succeeded() noexcept {
    failures_.store(0, std::memory_order_relaxed);
    retry_at_.store(kClosed, std::memory_order_relaxed);
  }
  /// Opens at the first failure that every request would repeat, or at the third in a row of those
  /// that may concern one entry only.
  void failed(bool repeats) noexcept {
    if (failures_.fetch_add(1, std::memory_order_relaxed) + 1 >= kFailures || repeats) {
      retry_at_.store(next(), std::memory_order_relaxed);
    }
  }
  void open_for_good() noexcept { retry_at_.store(kNever, std::memory_order_relaxed); }
  /// True for one caller per interval while open: that caller tries again.
  [[nodiscard]] bool claim_retry() noexcept {
    std::int64_t at = retry_at_.load(std::memory_order_relaxed);
    return at != kClosed && at != kNever && now() >= at &&
           retry_at_.compare_exchange_strong(at, next(), std::memory_order_relaxed);
  }

 private:
  static constexpr std::int64_t kClosed = 0, kNever = std::numeric_limits<std::int64_t>::max();
  static constexpr int kFailures = 3;

  static std::int64_t now() noexcept {
    return std::chrono::steady_clock::now().time_since_epoch().count();
  }
  [[nodiscard]] std::int64_t next() const noexcept {
    if (interval_.count() == 0) return kNever;
    return now() + std::chrono::steady_clock::duration(interval_).count();
  }

  std::chrono::milliseconds interval_;
  std::atomic<std::int64_t> retry_at_ = kClosed;  // on the steady clock
  std::atomic<int> failures_ = 0;                 // in a row
};

}  // namespace tilejit::cache
