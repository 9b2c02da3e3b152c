#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

namespace tilejit::driver {

/// Somebody who knows what kernels have noted while they ran, such as assertions that do not hold.
class Reporter {
 public:
  virtual ~Reporter() = default;
  /// What was noted since the last call, a line for each; empty if nothing was. One call at a time.
  [[nodiscard]] virtual std::string take() = 0;
};

/// The reporters of a context. Thread-safe.
class Reports {
 public:
  /// `reporter` lives until it is removed.
  void add(Reporter& reporter);
  void remove(Reporter& reporter) noexcept;
  /// Throws Error{invalid_argument} with what all reporters have to say, if anything. Without
  /// reporters it costs one load.
  void raise() {
    if (any_.load(std::memory_order_relaxed)) [[unlikely]]
      raise_any();
  }

 private:
  void raise_any();

  std::mutex mutex_;
  std::vector<Reporter*> reporters_;
  std::atomic<bool> any_ = false;
};

}  // namespace tilejit::driver
