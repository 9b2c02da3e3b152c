#include "arithmetic/cast.hpp"

#include "arithmetic/convert.hpp"
#include "arithmetic/format.hpp"

namespace tilejit::arithmetic {
namespace {

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

}  // namespace

bool cast_rounds(DType from, DType to) noexcept {
  return to != f64 && (to != f32 || from == f64 || !is_floating(from));
}

double cast_real(DType from, DType to, double value) noexcept {
  return cast_rounds(from, to) ? round_to(to, value) : value;
}

double cast_integer(DType from, DType to, std::int64_t value) noexcept {
  return to == f64 ? integer_to_real(value, from) : round_to(to, round_odd(from, value));
}

}  // namespace tilejit::arithmetic
