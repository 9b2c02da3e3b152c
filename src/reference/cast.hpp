#pragma once

#include <cstdint>

#include "reference/bounds.hpp"
#include "tilejit/dtype.hpp"

namespace tilejit::reference {

/// The value of a cast to floating type `to`. To a narrow type rounds once, from f64 to f32 too;
/// other values stay as they are, since f32 is computed in double here.
[[nodiscard]] double cast_real(DType from, DType to, double value) noexcept;

/// Bound of a cast between any types; `x` is the operand, `result` the value of the cast.
[[nodiscard]] double cast_bound(DType from, DType to, const Approx& x, double result) noexcept;

}  // namespace tilejit::reference
