#include "reference/cast.hpp"

#include <algorithm>
#include <cmath>

#include "arithmetic/cast.hpp"
#include "arithmetic/convert.hpp"
#include "arithmetic/format.hpp"

namespace tilejit::reference {
namespace {

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
  if (!cast_rounds(from, to)) return bound;
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
