#pragma once

#include "reference/bounds.hpp"
#include "tilejit/dtype.hpp"

namespace tilejit::reference {

/// Bound of a cast between any types; `x` is the operand, `result` the value of the cast.
[[nodiscard]] double cast_bound(DType from, DType to, const Approx& x, double result) noexcept;

}  // namespace tilejit::reference
