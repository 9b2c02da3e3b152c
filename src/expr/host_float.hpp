#pragma once

#include "tilejit/dtype.hpp"

namespace tilejit::expr {

/// `value` rounded once to floating `type`: to nearest even (tf32: ties away from zero). f8 types
/// saturate; others overflow to infinity.
[[nodiscard]] double round_to(DType type, double value) noexcept;

/// The nearest integer, ties to even, independent of the process's rounding mode.
[[nodiscard]] double round_half_even(double value) noexcept;

/// Python's float // and %, with x // 0 = x / 0 and x % 0 = NaN.
[[nodiscard]] double floor_div(double a, double b) noexcept;
[[nodiscard]] double floor_mod(double a, double b) noexcept;

}  // namespace tilejit::expr
