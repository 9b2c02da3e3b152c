#pragma once

#include <cstdint>

#include "reference/bounds.hpp"
#include "tilejit/dtype.hpp"

namespace tilejit::reference {

/// One element held against the reference.
struct Judgement {
  bool passed = true;
  double error = 0;    ///< |got - want|; infinite where only one is finite or NaN
  double allowed = 0;  ///< bound of the value and the rounding of the store
  /// error / allowed; infinite where an exact value was missed.
  [[nodiscard]] double ratio() const noexcept;
};

/// `got`: the stored element, decoded. Formats with an infinity must overflow to it where the value
/// certainly does and may where its bound reaches so far; the f8 formats saturate. -0 equals 0.
[[nodiscard]] Judgement judge_real(DType dtype, double got, const Approx& want) noexcept;
[[nodiscard]] Judgement judge_integer(DType dtype, std::int64_t got, std::int64_t want,
                                      double bound) noexcept;

}  // namespace tilejit::reference
