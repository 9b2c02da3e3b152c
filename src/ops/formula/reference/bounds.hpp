#pragma once

#include <array>
#include <cstdint>

#include "expr/program.hpp"

namespace tilejit::reference {

/// A value of the reference and how far the device's may be from it: |device - value| <= bound. A
/// bound of 0 means the same value (the same infinity, or NaN on both sides); infinity means that
/// nothing is known. Integers and bool are converted to double.
struct Approx {
  double value = 0;
  double bound = 0;
};
using Approxes = std::array<Approx, 3>;

/// Covers what first-order terms and the bounds' own arithmetic leave out.
inline constexpr double kSafety = 1 + 0x1p-20;

/// The arithmetic the device computes a floating type in: f64, or f32 for every other, with
/// approximations for those of 16 bits and fewer.
struct Arithmetic {
  enum class Kind : std::uint8_t { f64, f32, narrow };
  double unit;        ///< unit roundoff: 2^-24 or 2^-53
  double tiny;        ///< smallest subnormal
  double min_normal;  ///< smallest normal
  double overflow;    ///< smallest magnitude that rounds to infinity
  Kind kind;          ///< f64: the reference rounds as coarsely as the device
};
[[nodiscard]] const Arithmetic& arithmetic(DType type) noexcept;

/// `value` as that arithmetic has it: infinite from the overflow threshold on.
[[nodiscard]] double in_range(const Arithmetic& arithmetic, double value) noexcept;
/// `x` with in_range applied. Where the device may or may not overflow, nothing is known.
[[nodiscard]] Approx in_range(const Arithmetic& arithmetic, const Approx& x) noexcept;

/// The difference of two results: 0 for equal infinities and for NaN twice, infinite for NaN once.
[[nodiscard]] double distance(double a, double b) noexcept;

/// Bound of a floating operation whose value in double is `result`.
[[nodiscard]] double real_bound(expr::Op op, DType type, double result,
                                const Approxes& args) noexcept;
/// Bound of an operation on integers or bool whose wrapped value is `result`.
[[nodiscard]] double integer_bound(expr::Op op, DType type, double result,
                                   const Approxes& args) noexcept;
/// 1 where rounding may decide the comparison, else 0.
[[nodiscard]] double comparison_bound(const Approx& a, const Approx& b) noexcept;
/// Bound of a selection: where the condition is uncertain, either branch may have been taken.
[[nodiscard]] double where_bound(double condition_bound, const Approx& chosen,
                                 const Approx& other) noexcept;
/// A literal, which the device has rounded to the type it computes in.
[[nodiscard]] double constant_bound(DType type, double value) noexcept;

}  // namespace tilejit::reference
