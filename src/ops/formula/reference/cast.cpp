#include "reference/cast.hpp"

#include <algorithm>
#include <cmath>

#include "reference/convert.hpp"
#include "reference/format.hpp"

namespace tilejit::reference {
namespace {

bool rounds(DType from, DType to) noexcept {
  return to != f64 && (to != f32 || from == f64 || !is_floating(from));
}

// `value` as a double, rounded to odd: if bits are lost, the last kept bit is set. Rounding the
// result to a type of at most 24 bits gives the same as rounding `value` itself (Boldo and
// Melquiond, as in kernels_templates/tile/convert.cuh).
double round_odd(DType from, std::int64_t value) noexcept {
  const bool negative = is_signed(from) && value < 0;
  const auto bits = static_cast<std::uint64_t>(value);
  std::uint64_t magnitude = negative ? 0 - bits : bits;
  if (magnitude >> 53 != 0) {
    constexpr std::uint64_t kUnit = 1u << 11;  // a double keeps 53 of 64 bits
    const bool inexact = magnitude % kUnit != 0;
    magnitude = (magnitude / kUnit | std::uint64_t{inexact}) * kUnit;
  }
  const auto real = static_cast<double>(magnitude);
  return negative ? -real : real;
}

// Rounding and truncation are monotone, so the ends of the interval give the bound.
template <typename F>
double between_ends(const F& convert, const Approx& x, double bound, double result) noexcept {
  return std::max(distance(convert(x.value - bound), result),
                  distance(convert(x.value + bound), result));
}

double bound_to_real(DType from, DType to, const Approx& x, double result) noexcept {
  if (x.bound == 0) return 0;
  // An integer beyond 2^53 is rounded when it becomes a double.
  const double inexact = is_floating(from) ? 0 : 0x1p-52 * std::fabs(x.value);
  const double bound = x.bound + inexact;
  if (!rounds(from, to)) return bound;
  return between_ends([&](double value) { return round_to(to, value); }, x, bound, result);
}

// Types narrower than 32 bits wrap a value of i32, so the interval must not cross their range.
double bound_to_integer(DType to, const Approx& x, double result) noexcept {
  if (x.bound == 0) return 0;
  const DType wide = width(to) < 32 ? i32 : to;
  const auto convert = [&](double value) {
    return integer_to_real(real_to_integer(value, wide), wide);
  };
  const double bound = between_ends(convert, x, x.bound, convert(x.value));
  const auto [min, max] = integer_range(to);
  return bound == 0 || (result - bound >= min && result + bound <= max) ? bound : kInfinity;
}

}  // namespace

double cast_real(DType from, DType to, double value) noexcept {
  return rounds(from, to) ? round_to(to, value) : value;
}

double cast_integer(DType from, DType to, std::int64_t value) noexcept {
  return to == f64 ? integer_to_real(value, from) : round_to(to, round_odd(from, value));
}

double cast_bound(DType from, DType to, const Approx& x, double result) noexcept {
  if (std::isinf(x.bound)) return kInfinity;
  if (is_floating(to)) return bound_to_real(from, to, x, result);
  if (to == b8) return x.bound == 0 || std::fabs(x.value) > x.bound ? 0 : 1;
  if (is_floating(from)) return bound_to_integer(to, x, result);
  if (x.bound == 0) return 0;
  const auto [min, max] = integer_range(to);
  return result - x.bound >= min && result + x.bound <= max ? x.bound : kInfinity;
}

}  // namespace tilejit::reference
