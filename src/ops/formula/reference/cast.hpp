#pragma once

#include <cstdint>

#include "reference/bounds.hpp"
#include "tilejit/dtype.hpp"

namespace tilejit::reference {

/// The value of a cast between floating types. A cast to a narrow type, also one from f64 to f32,
/// rounds once. Other values are unchanged, since f32 is computed in double here.
[[nodiscard]] double cast_real(DType from, DType to, double value) noexcept;
/// The value of a cast of an integer or bool of type `from` to floating type `to`, rounded once as
/// on the device.
[[nodiscard]] double cast_integer(DType from, DType to, std::int64_t value) noexcept;

/// Bound of a cast between any types; `x` is the operand, `result` the value of the cast.
[[nodiscard]] double cast_bound(DType from, DType to, const Approx& x, double result) noexcept;

}  // namespace tilejit::reference
