#pragma once

#include <chrono>

namespace tilejit::front {

/// Measures the time since its construction.
class Stopwatch {
 public:
  [[nodiscard]] double milliseconds() const noexcept {
    return std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace tilejit::front
