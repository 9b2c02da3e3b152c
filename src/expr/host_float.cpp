#include "expr/host_float.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilejit::expr {
namespace {

struct Format {
  int precision;     // bits of the significand, including the hidden one
  int min_exponent;  // the smallest subnormal is 2^min_exponent
  double largest;
  bool saturates;
};

Format format_of(DType type) noexcept {
  switch (type) {
    case f16: return {11, -24, 65504.0, false};
    case bf16: return {8, -133, 0x1.FEp127, false};
    case f8e4m3: return {4, -9, 448.0, true};
    case f8e5m2: return {3, -16, 57344.0, true};
    case tf32: return {11, -136, 0x1.FFCp127, false};
    case f32: return {24, -149, std::numeric_limits<float>::max(), false};
    default: return {53, -1074, std::numeric_limits<double>::max(), false};
  }
}

}  // namespace

double round_half_even(double value) noexcept {
  if (!(std::fabs(value) < 0x1p52)) return value;
  return std::copysign(value - std::remainder(value, 1.0), value);
}

double round_to(DType type, double value) noexcept {
  const Format format = format_of(type);
  if (std::isnan(value) || value == 0 || type == f64) return value;
  if (std::isinf(value)) return format.saturates ? std::copysign(format.largest, value) : value;
  int exponent = 0;
  (void)std::frexp(value, &exponent);
  const int quantum = std::max(exponent - format.precision, format.min_exponent);
  const double scaled = std::ldexp(value, -quantum);
  const double rounded =
      std::ldexp(type == tf32 ? std::round(scaled) : round_half_even(scaled), quantum);
  if (std::fabs(rounded) <= format.largest) return rounded;
  const double limit = format.saturates ? format.largest : std::numeric_limits<double>::infinity();
  return std::copysign(limit, value);
}

// Both follow CPython's float_floor_div and float_rem: the quotient is derived from the exact
// remainder, so that it is correct next to integers.
double floor_mod(double a, double b) noexcept {
  double remainder = std::fmod(a, b);
  if (remainder == 0) return std::copysign(0.0, b);
  if ((b < 0) != (remainder < 0)) remainder += b;
  return remainder;
}

double floor_div(double a, double b) noexcept {
  if (b == 0) return a / b;
  const double remainder = std::fmod(a, b);
  double quotient = (a - remainder) / b;
  if (remainder != 0 && (b < 0) != (remainder < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double floored = std::floor(quotient);
  return quotient - floored > 0.5 ? floored + 1 : floored;
}

}  // namespace tilejit::expr
