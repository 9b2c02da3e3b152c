#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "arithmetic/format.hpp"
#include "expr/program.hpp"

namespace tilejit::arithmetic {}  // namespace tilejit::arithmetic

namespace tilejit::reference {

using namespace arithmetic;  // NOLINT(google-build-using-namespace): the values bounded here
using arithmetic::kInfinity;
using arithmetic::kNan;

/// A value of the reference and a bound of the device's deviation: |device - value| <= bound. A
/// bound of 0 means the same value (the same infinity, or NaN on both sides). An infinite bound
/// means that nothing is known. Integers and bool are converted to double.
struct Approx {
  double value = 0;
  double bound = 0;
};
/// Whether it is the weight of a key that a mask excludes, exp(-inf) / sum, and not one that is
/// merely small: those have bounds of at least 2^-126 / sum (attention_errors.hpp).
[[nodiscard]] constexpr bool is_excluded(const Approx& weight) noexcept {
  return weight.value == 0 && weight.bound < 0x1p-145;
}
/// What the device's value may deviate by, beyond what its operation gives, if it is finite and not
/// excluded.
struct OwnError {
  double relative = 0, absolute = 0;
  expr::NodeId overflows = expr::kNoNode;  ///< nothing is known where this node is infinite
};
/// The bound with that error.
[[nodiscard]] inline double with_error(const OwnError& error, const Approx& x) noexcept {
  if (!std::isfinite(x.value) || is_excluded(x)) return x.bound;
  return x.bound + error.relative * (std::fabs(x.value) + x.bound) + error.absolute;
}
using Approxes = std::array<Approx, 3>;

/// Covers what first-order terms and the arithmetic of the bounds themselves leave out.
inline constexpr double kSafety = 1 + 0x1p-20;

/// The arithmetic in which the device computes a floating type: f64 for f64, f32 for all others.
/// Types of at most 16 bits also use approximations.
struct Arithmetic {
  enum class Kind : std::uint8_t { f64, f32, narrow };
  double unit;        ///< unit roundoff: 2^-24 or 2^-53
  double tiny;        ///< smallest subnormal
  double min_normal;  ///< smallest normal
  double overflow;    ///< smallest magnitude that rounds to infinity
  Kind kind;          ///< f64: the reference rounds as coarsely as the device does
};
[[nodiscard]] const Arithmetic& arithmetic(DType type) noexcept;

/// `value` in the range of that arithmetic: infinite from the overflow threshold on.
[[nodiscard]] double in_range(const Arithmetic& arithmetic, double value) noexcept;
/// `x` with in_range applied. Nothing is known if the device may or may not overflow.
[[nodiscard]] Approx in_range(const Arithmetic& arithmetic, const Approx& x) noexcept;

/// The distance of two results: 0 for equal infinities or two NaNs, infinite for one NaN.
[[nodiscard]] double distance(double a, double b) noexcept;

/// Bound of a floating operation whose value in double is `result`.
[[nodiscard]] double real_bound(expr::Op op, DType type, double result,
                                const Approxes& args) noexcept;
/// Bound of an operation on integers or bool whose wrapped value is `result`.
[[nodiscard]] double integer_bound(expr::Op op, DType type, double result,
                                   const Approxes& args) noexcept;
/// 1 if rounding may decide the comparison, otherwise 0.
[[nodiscard]] double comparison_bound(const Approx& a, const Approx& b) noexcept;
/// Bound of a selection. If the condition is uncertain, the device may have taken either branch.
[[nodiscard]] double where_bound(double condition_bound, const Approx& chosen,
                                 const Approx& other) noexcept;
/// Bound of a literal, which the device rounds to the type that it computes in.
[[nodiscard]] double constant_bound(DType type, double value) noexcept;

}  // namespace tilejit::reference
