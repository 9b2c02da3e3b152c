#pragma once

#include <cstdint>

namespace tilejit::render {

/// What the kernels of one operation may give the compiler to do, so that it ends in seconds. What
/// is computed again, in other kernels or other passes over a row, counts again.
class Budget {
 public:
  /// As many as a formula has nodes at most; in units of expr::weight.
  static constexpr std::int64_t kMost = 20'000;

  /// Throws Error{unsupported} if more than kMost is taken in all.
  void take(std::int64_t weight);

 private:
  std::int64_t left_ = kMost;
};

}  // namespace tilejit::render
