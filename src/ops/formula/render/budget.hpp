#pragma once

#include <cstdint>

namespace tilejit::render {

/// Limits the code that the kernels of one operation give the compiler, so that it ends in seconds.
/// A value that is computed again, in another kernel or another pass over a row, counts again.
class Budget {
 public:
  /// The limit in units of expr::weight. It equals the most nodes of a formula.
  static constexpr std::int64_t kMost = 20'000;

  /// Throws Error{unsupported} if more than kMost is taken in all.
  void take(std::int64_t weight);

 private:
  std::int64_t left_ = kMost;
};

}  // namespace tilejit::render
