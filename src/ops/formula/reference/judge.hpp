#pragma once

#include <cstdint>

#include "reference/bounds.hpp"
#include "tilejit/dtype.hpp"

namespace tilejit::reference {

/// One element compared with the reference.
struct Judgement {
  bool passed = true;
  double error = 0;    ///< |got - want|; infinite if only one of them is finite or NaN
  double allowed = 0;  ///< bound of the value plus the rounding of the store
  /// error / allowed; infinite if an exact value was missed.
  [[nodiscard]] double ratio() const noexcept;
};

/// `got` is the stored element, decoded. A format with an infinity must overflow if the value
/// certainly does, and may overflow if the bound allows it; the f8 formats saturate. -0 equals 0.
[[nodiscard]] Judgement judge_real(DType dtype, double got, const Approx& want) noexcept;
[[nodiscard]] Judgement judge_integer(DType dtype, std::int64_t got, std::int64_t want,
                                      double bound) noexcept;

}  // namespace tilejit::reference
