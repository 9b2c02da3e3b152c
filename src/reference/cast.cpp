#include "reference/cast.hpp"

#include <algorithm>
#include <cmath>

#include "reference/convert.hpp"
#include "reference/format.hpp"

namespace tilejit::reference {
namespace {

bool rounds(DType from, DType to) noexcept {
  return to != f64 && (to != f32 || from == f64);
}

// Rounding and truncation are monotone: the ends of the interval decide.
template <typename F>
double between_ends(const F& convert, const Approx& x, double bound, double result) noexcept {
  return std::max(distance(convert(x.value - bound), result),
                  distance(convert(x.value + bound), result));
}

// Beyond 2^53 the reference rounds an integer to double first. f32 rounds it on the device only.
double integer_rounding(DType from, DType to, double value) noexcept {
  const double in_reference = size_bytes(from) == 8 && std::fabs(value) >= 0x1p53 ? 0x1p-53 : 0;
  const bool by_device = to == f32 && (in_reference != 0 || value != round_to(f32, value));
  return std::fabs(value) * (by_device ? 0x1.00001p-24 : 2 * in_reference);
}

double bound_to_real(DType from, DType to, const Approx& x, double result) noexcept {
  double bound = x.bound;
  if (!is_floating(from)) bound += integer_rounding(from, to, x.value);
  if (!rounds(from, to) || bound == 0) return bound;
  return between_ends([&](double value) { return round_to(to, value); }, x, bound, result);
}

// Types narrower than 32 bits wrap a value of i32: the interval must not cross their range.
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
