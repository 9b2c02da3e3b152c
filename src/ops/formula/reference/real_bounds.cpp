#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "arithmetic/format.hpp"
#include "arithmetic/operations.hpp"
#include "expr/traits.hpp"
#include "reference/bounds.hpp"

namespace tilejit::reference {
namespace {

using expr::Op;

using Kind = Arithmetic::Kind;
constexpr Arithmetic kSingle{0x1p-24, 0x1p-149, 0x1p-126, 0x1.ffffffp127, Kind::f32};
constexpr Arithmetic kNarrow{0x1p-24, 0x1p-149, 0x1p-126, 0x1.ffffffp127, Kind::narrow};
constexpr Arithmetic kDouble{0x1p-53, 0x1p-1074, 0x1p-1022, kInfinity, Kind::f64};

// Largest slopes of silu, gelu and gelu_tanh, rounded up.
constexpr double kSiluSlope = 1.1;
constexpr double kGeluSlope = 1.13;

// A bound of 0 stays 0, even with an infinite factor.
double times(double factor, double bound) noexcept {
  return bound == 0 ? 0 : std::fabs(factor) * bound;
}

double ulps(Op op, const Arithmetic& m) noexcept {
  switch (m.kind) {
    case Kind::f64: return expr::traits(op).accuracy.f64;
    case Kind::f32: return expr::traits(op).accuracy.f32;
    case Kind::narrow: break;
  }
  return expr::traits(op).accuracy.narrow;
}

// Adds the operation's own error to the error carried over from the operands. An ulp is at most 2
// units of the result, or the smallest subnormal (Higham, section 3.3; (2.8) for gradual
// underflow).
double with_rounding(Op op, const Arithmetic& m, double carried, double result) noexcept {
  const double count = ulps(op, m);
  return kSafety *
         (carried * (1 + 2 * count * m.unit) + count * (2 * m.unit * std::fabs(result) + m.tiny));
}

bool is_correctly_rounded(Op op, const Arithmetic& m) noexcept {
  if (op == Op::div) return m.kind != Kind::narrow;
  return op == Op::add || op == Op::sub || op == Op::mul || op == Op::mod || op == Op::sqrt ||
         op == Op::fma;
}

// True if operands are exact and the result needs no rounding, so that the device has the same
// result. In f64 both sides round alike, but the device may contract a product into an fma.
bool is_reproduced(Op op, const Arithmetic& m, double result) noexcept {
  if (!is_correctly_rounded(op, m)) return false;
  return m.kind == Kind::f64 ? op != Op::mul || result == 0 : result == round_to(f32, result);
}

// For an operation that is monotone in each operand over the box of operands: the extremes are at
// its corners.
double at_corners(Op op, const Arithmetic& m, double result, const Approx& a,
                  const Approx& b) noexcept {
  double bound = 0;
  for (const double x : {a.value - a.bound, a.value + a.bound}) {
    for (const double y : {b.value - b.bound, b.value + b.bound}) {
      bound = std::max(bound, distance(in_range(m, apply(op, {x, y, 0})), in_range(m, result)));
    }
  }
  return bound;
}

double monotone(Op op, const Arithmetic& m, double result, const Approx& a) noexcept {
  return a.bound == 0 ? 0 : at_corners(op, m, result, a, {});
}

// tan(x + e) - tan(x) = tan(e) (1 + t^2) / (1 - t tan(e)) with t = tan(x), before the next pole.
double carried_by_tan(double result, double bound) noexcept {
  if (bound >= 1.5) return kInfinity;
  const double t = std::fabs(result), step = std::tan(bound);
  return t * step < 1 ? step * (1 + t * t) / (1 - t * step) : kInfinity;
}

// (a + ea) / (b + eb) - a/b is at most (ea + |a/b| eb) / (|b| - eb).
double carried_by_quotient(const Approx& a, const Approx& b) noexcept {
  if (a.bound == 0 && b.bound == 0) return 0;
  if (std::fabs(b.value) <= b.bound) return kInfinity;
  return (a.bound + times(a.value / b.value, b.bound)) / (std::fabs(b.value) - b.bound);
}

// If the quotient is within `slack` of a whole number, the next lower one is possible. The quotient
// itself is computed from the exact remainder, and its roundings (of a - r, of the division, and of
// the result) are below 1/4.
double floor_div_bound(const Arithmetic& m, double result, const Approx& a,
                       const Approx& b) noexcept {
  const double carried = carried_by_quotient(a, b);
  const double quotient = a.value / b.value;
  const double slack = carried == 0 ? 0 : carried + 0x1p-50 * std::fabs(quotient);
  const double ends = slack == 0 ? 0
                                 : std::max(distance(std::floor(quotient - slack), result),
                                            distance(std::floor(quotient + slack), result));
  const double rounding = 4 * m.unit * std::fabs(result);
  return rounding < 0.25 || (m.kind == Kind::f64 && ends == 0) ? ends : ends + rounding + 1;
}

// a - floor(a/b) b. If the operands do not determine the whole number below a/b, the result may be
// anywhere between 0 and b.
double carried_by_mod(const Approx& a, const Approx& b) noexcept {
  if (a.bound == 0 && b.bound == 0) return 0;
  const double quotient = a.value / b.value;
  const double slack = carried_by_quotient(a, b) + 0x1p-50 * std::fabs(quotient);
  if (std::floor(quotient - slack) != std::floor(quotient + slack)) {
    return std::fabs(b.value) + b.bound;
  }
  return a.bound + times(std::floor(quotient), b.bound);
}

double mod_bound(const Arithmetic& m, double result, const Approx& a, const Approx& b) noexcept {
  const double carried = carried_by_mod(a, b);
  if (carried == 0 && is_reproduced(Op::mod, m, result)) return 0;
  return with_rounding(Op::mod, m, carried, std::max(std::fabs(result), std::fabs(b.value)));
}

// x^y is monotone in x and in y for x > 0. For other x, y must be a known whole number; over an
// interval around 0 an even power has its minimum inside.
double carried_by_pow(const Arithmetic& m, double result, const Approx& a,
                      const Approx& b) noexcept {
  if (a.bound == 0 && b.bound == 0) return 0;
  if (a.value - a.bound > 0) return at_corners(Op::pow, m, result, a, b);
  const bool whole = b.bound == 0 && std::trunc(b.value) == b.value;
  if (!whole) return kInfinity;
  const bool around_zero = a.value + a.bound >= 0;
  if (around_zero && b.value < 0) return kInfinity;
  const double ends = at_corners(Op::pow, m, result, a, b);
  return around_zero && b.value > 0 ? std::max(ends, std::fabs(result)) : ends;
}

// (a + ea)(b + eb) + (c + ec). With an infinite operand the result is known only if all operands
// are exact.
double fma_bound(const Arithmetic& m, double result, const Approxes& args) noexcept {
  const auto& [a, b, c] = args;
  const bool exact = a.bound == 0 && b.bound == 0 && c.bound == 0;
  if (!std::isfinite(result)) return exact ? 0 : kInfinity;
  if (exact && is_reproduced(Op::fma, m, result)) return 0;
  const double carried =
      times(a.value, b.bound) + times(b.value, a.bound) + a.bound * b.bound + c.bound;
  return with_rounding(Op::fma, m, carried, result);
}

// The point (x, y) moves by at most e. Seen from the origin that is an angle of at most asin(e /
// r). Around the origin, and across the negative half of the x axis, any angle is possible.
double carried_by_atan2(const Arithmetic& m, double result, const Approx& y,
                        const Approx& x) noexcept {
  if (y.bound == 0 && x.bound == 0) return 0;
  if (!std::isfinite(y.value) || !std::isfinite(x.value))
    return at_corners(Op::atan2, m, result, y, x);
  const double moved = std::hypot(y.bound, x.bound), radius = std::hypot(y.value, x.value);
  const bool may_jump = y.bound > 0 && std::fabs(y.value) <= y.bound && x.value - x.bound < 0;
  constexpr double kTurn = 6.2831853071795872;  // rounded up
  return may_jump || moved >= radius ? kTurn : std::asin(moved / radius);
}

double atan2_bound(const Arithmetic& m, double result, const Approx& y, const Approx& x) noexcept {
  const double carried = carried_by_atan2(m, result, y, x);
  return std::isnan(result) ? carried : with_rounding(Op::atan2, m, carried, result);
}

// The sign of a NaN is not specified.
double copysign_bound(double result, const Approx& magnitude, const Approx& sign) noexcept {
  const bool certain =
      !std::isnan(sign.value) && (sign.bound == 0 || std::fabs(sign.value) > sign.bound);
  return certain ? magnitude.bound : distance(result, -result) + magnitude.bound;
}

bool is_certain_nan(const Approx& x) noexcept {
  return std::isnan(x.value) && x.bound == 0;
}

// If one operand is NaN, the result is the other one.
double min_max_bound(const Approx& a, const Approx& b) noexcept {
  if (is_certain_nan(a)) return b.bound;
  if (is_certain_nan(b)) return a.bound;
  return std::max(a.bound, b.bound);
}

constexpr double kOfFastTanh = 0x1p-11;  // PTX ISA, "tanh"

double clamp_bound(const Approxes& args) noexcept {
  const auto& [x, lo, hi] = args;
  return is_certain_nan(x) ? 0 : std::max(x.bound, min_max_bound(lo, hi));
}

// Errors of inner steps that do not shrink with the result. exp(-x) overflows while the sigmoid is
// still above 0. 1 + erf(z) and 1 + tanh(z) cancel for negative z, which leaves the errors of z and
// of the function: at most six units of 1. For narrow floats exp(x) is 2^t with t rounded twice,
// and subnormal results are flushed to 0.
double inner_error(Op op, const Arithmetic& m, const Approx& a, double result) noexcept {
  const double x = a.value;
  if (m.kind == Kind::narrow) {
    const double of_exponent = 2 * m.unit * (std::fabs(x) + a.bound) * std::fabs(result);
    switch (op) {
      case Op::exp: return of_exponent + m.min_normal;
      case Op::exp2: return m.min_normal;
      case Op::sigmoid: return of_exponent + m.min_normal;
      case Op::silu: return of_exponent + std::fabs(x) * m.min_normal;
      case Op::gelu:
      case Op::gelu_tanh: return kOfFastTanh * std::fabs(x);
      default: break;
    }
  }
  switch (op) {
    case Op::sigmoid: return m.min_normal;
    case Op::silu: return std::fabs(x) * m.min_normal;
    case Op::gelu:
    case Op::gelu_tanh: return 6 * m.unit * std::fabs(x);
    default: return 0;
  }
}

double carried_by_function(Op op, const Arithmetic& m, double result, const Approx& a) noexcept {
  switch (op) {
    case Op::sin:
    case Op::cos: return std::min(a.bound, 2.0);
    case Op::tan: return carried_by_tan(result, a.bound);
    case Op::silu: return kSiluSlope * a.bound;
    case Op::gelu:
    case Op::gelu_tanh: return kGeluSlope * a.bound;
    default: return monotone(op, m, result, a);
  }
}

double function_bound(Op op, const Arithmetic& m, double result, const Approx& a) noexcept {
  if (op == Op::atan && std::isinf(a.value)) return with_rounding(op, m, a.bound, result);
  if (!std::isfinite(a.value))
    return a.bound;  // every other limit is exact, and so are infinite operands
  const double carried = carried_by_function(op, m, result, a);
  if (!std::isfinite(in_range(m, result))) {
    return std::isfinite(result) ? with_rounding(op, m, carried, result) : carried;
  }
  if (carried == 0 && is_reproduced(op, m, result)) return 0;
  return with_rounding(op, m, carried + inner_error(op, m, a, result), result);
}

double arithmetic_bound(Op op, const Arithmetic& m, double result, const Approx& a,
                        const Approx& b) noexcept {
  if (!std::isfinite(result)) return at_corners(op, m, result, a, b);
  double carried = 0;
  switch (op) {
    case Op::mul:
      carried = times(a.value, b.bound) + times(b.value, a.bound) + a.bound * b.bound;
      break;
    case Op::div: carried = carried_by_quotient(a, b); break;
    case Op::pow: carried = carried_by_pow(m, result, a, b); break;
    // add, sub, and hypot, whose slope is at most 1
    default: carried = a.bound + b.bound;
  }
  if (carried == 0 && is_reproduced(op, m, result)) return 0;
  return with_rounding(op, m, carried, result);
}

}  // namespace

const Arithmetic& arithmetic(DType type) noexcept {
  if (type == f64) return kDouble;
  return size_bytes(type) <= 2 ? kNarrow : kSingle;
}

double in_range(const Arithmetic& arithmetic, double value) noexcept {
  return std::fabs(value) >= arithmetic.overflow ? std::copysign(kInfinity, value) : value;
}

Approx in_range(const Arithmetic& arithmetic, const Approx& x) noexcept {
  const double magnitude = std::fabs(x.value);
  if (std::isnan(x.bound)) return {in_range(arithmetic, x.value), kInfinity};
  if (magnitude >= arithmetic.overflow) {
    const bool certain = x.bound == 0 || magnitude - x.bound >= arithmetic.overflow;
    return {std::copysign(kInfinity, x.value), certain ? 0 : kInfinity};
  }
  return {x.value, magnitude + x.bound >= arithmetic.overflow ? kInfinity : x.bound};
}

double distance(double a, double b) noexcept {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double difference = std::fabs(a - b);
  return std::isnan(difference) ? kInfinity : difference;
}

double real_bound(Op op, DType type, double result, const Approxes& args) noexcept {
  const Arithmetic& m = arithmetic(type);
  const auto& [a, b, c] = args;
  switch (op) {
    case Op::neg:
    case Op::abs: return a.bound;
    case Op::min:
    case Op::max: return min_max_bound(a, b);
    case Op::clamp: return clamp_bound(args);
    case Op::fma: return fma_bound(m, result, args);
    default: break;
  }
  if (std::isinf(a.bound) || std::isinf(b.bound)) return kInfinity;
  switch (op) {
    case Op::floor:
    case Op::ceil:
    case Op::round:
    case Op::trunc:
    case Op::relu: return monotone(op, m, result, a);
    case Op::floor_div:
      return std::isfinite(result) ? floor_div_bound(m, result, a, b)
                                   : at_corners(op, m, result, a, b);
    case Op::mod:
      return std::isfinite(result) ? mod_bound(m, result, a, b) : at_corners(op, m, result, a, b);
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::div:
    case Op::hypot:
    case Op::pow: return arithmetic_bound(op, m, result, a, b);
    case Op::atan2: return atan2_bound(m, result, a, b);
    case Op::copysign: return copysign_bound(result, a, b);
    default: return function_bound(op, m, result, a);
  }
}

double constant_bound(DType type, double value) noexcept {
  if (type == f64 || !std::isfinite(value) || value == round_to(f32, value)) return 0;
  return kSafety * kSingle.unit * std::fabs(value) + kSingle.tiny;
}

}  // namespace tilejit::reference
