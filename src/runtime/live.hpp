#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace tilejit::runtime {

/// A thing that a better one may replace while others read it. Reading takes one atomic load; all
/// that were ever here live as long as this, for those that have read them. Thread-safe.
template <typename T>
class Live {
 public:
  explicit Live(std::shared_ptr<const T> first) { replace(std::move(first)); }

  [[nodiscard]] const T& operator*() const noexcept {
    return *current_.load(std::memory_order_acquire);
  }
  const T* operator->() const noexcept { return &**this; }
  void replace(std::shared_ptr<const T> better) {
    const std::lock_guard lock(mutex_);
    all_.push_back(std::move(better));
    current_.store(all_.back().get(), std::memory_order_release);
  }

 private:
  std::atomic<const T*> current_ = nullptr;
  std::mutex mutex_;  // guards all_
  std::vector<std::shared_ptr<const T>> all_;
};

}  // namespace tilejit::runtime
