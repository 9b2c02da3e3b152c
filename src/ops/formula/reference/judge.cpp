#include "reference/judge.hpp"

#include <algorithm>
#include <cmath>

#include "arithmetic/convert.hpp"
#include "arithmetic/format.hpp"

namespace tilejit::reference {
namespace {

Judgement missed(double allowed) noexcept {
  return {false, kInfinity, allowed};
}

Judgement within(double error, double allowed) noexcept {
  return {error <= allowed, error, allowed};
}

// f32 and f64 values are stored as computed; the bound already includes their rounding.
double rounding_of_store(DType dtype, double magnitude) noexcept {
  return dtype == f32 || dtype == f64 ? 0 : half_ulp(dtype, magnitude);
}

Judgement judge_saturating(DType dtype, double got, const Approx& want) noexcept {
  const double max = max_finite(dtype);
  const double target = std::clamp(want.value, -max, max);
  const double allowed = want.bound + rounding_of_store(dtype, std::fabs(target) + want.bound);
  return std::isfinite(got) ? within(std::fabs(got - target), allowed) : missed(allowed);
}

}  // namespace

double Judgement::ratio() const noexcept {
  if (error == 0) return 0;
  return allowed == 0 || std::isinf(error) ? kInfinity : error / allowed;
}

Judgement judge_real(DType dtype, double got, const Approx& want) noexcept {
  if (std::isinf(want.bound)) return {true, 0, kInfinity};
  if (std::isnan(want.value)) return std::isnan(got) ? Judgement{} : missed(0);
  if (dtype == f8e4m3 || dtype == f8e5m2) return judge_saturating(dtype, got, want);

  const double magnitude = std::fabs(want.value);
  const double allowed = want.bound + rounding_of_store(dtype, magnitude + want.bound);
  if (std::isnan(got)) return missed(allowed);
  const double overflow = overflow_threshold(dtype);
  if (std::isinf(got)) {
    const bool same_side = std::signbit(got) == std::signbit(want.value);
    return same_side && magnitude + want.bound >= overflow ? Judgement{true, 0, allowed}
                                                           : missed(allowed);
  }
  if (magnitude - want.bound >= overflow) return missed(allowed);
  return within(std::fabs(got - want.value), allowed);
}

Judgement judge_integer(DType dtype, std::int64_t got, std::int64_t want, double bound) noexcept {
  if (got == want) return {true, 0, bound};
  const double error = std::fabs(integer_to_real(got, dtype) - integer_to_real(want, dtype));
  // Neighbours beyond 2^53 are equal as doubles, but they differ here.
  return within(std::max(error, 1.0), bound);
}

}  // namespace tilejit::reference
