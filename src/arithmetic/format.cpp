#include "arithmetic/format.hpp"

#include <algorithm>
#include <cmath>

namespace tilejit::arithmetic {
namespace {

constexpr int kFractionBits = 52;  // of a double
constexpr std::uint64_t kFractionMask = (std::uint64_t{1} << kFractionBits) - 1;

struct Unpacked {
  std::uint64_t significand;  // with the implicit bit
  int exponent;
};

Unpacked unpack(double magnitude) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(magnitude);
  return {(bits & kFractionMask) | (kFractionMask + 1), static_cast<int>(bits >> 52) - 1023};
}

// `significand` / 2^shift, rounded; 1 <= shift <= 63.
std::uint64_t shift_rounded(std::uint64_t significand, int shift, Ties ties) noexcept {
  const std::uint64_t quotient = significand >> shift;
  const std::uint64_t rest = significand & ((std::uint64_t{1} << shift) - 1);
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  const bool tie_up = ties == Ties::away || (quotient & 1) != 0;
  return quotient + (rest > half || (rest == half && tie_up) ? 1 : 0);
}

}  // namespace

std::uint32_t encode_bits(const Format& format, double value) noexcept {
  if (std::isnan(value)) return format.nan;
  const std::uint32_t sign = std::signbit(value) ? std::uint32_t{1} << (format.code_bits - 1) : 0;
  const std::uint32_t beyond = format.max_finite + (format.overflow == Overflow::infinity ? 1 : 0);
  if (std::isinf(value)) return sign | beyond;

  const auto [significand, exponent] = unpack(std::fabs(value));
  const int subnormal = std::max(format.min_exponent - exponent, 0);
  // A larger shift leaves only zero. Subnormal doubles, whose implicit bit is wrong, end here as
  // well.
  const int shift = std::min(kFractionBits - format.fraction_bits + subnormal, 63);
  const std::uint64_t rounded = shift_rounded(significand, shift, format.ties);
  const auto binade = static_cast<std::uint64_t>(exponent + subnormal - format.min_exponent);
  const std::uint64_t code = (binade << format.fraction_bits) + rounded;
  return sign | (code > format.max_finite ? beyond : static_cast<std::uint32_t>(code));
}

double decode_bits(const Format& format, std::uint32_t code) noexcept {
  const std::uint32_t sign = std::uint32_t{1} << (format.code_bits - 1);
  const std::uint32_t magnitude = code & (sign - 1);
  const std::uint32_t fraction = magnitude & ((1u << format.fraction_bits) - 1);
  const int field = static_cast<int>(magnitude >> format.fraction_bits);
  double value = 0;
  if (magnitude > format.max_finite) {
    // E4M3 has no infinity: its only code above the largest number has a fraction.
    value = fraction == 0 ? kInfinity : kNan;
  } else {
    const auto significand = fraction + (field != 0 ? 1u << format.fraction_bits : 0);
    const int exponent = std::max(field, 1) - 1 + format.min_exponent - format.fraction_bits;
    value = significand * power_of_two(exponent);
  }
  return (code & sign) != 0 ? -value : value;
}

const Format& format_of(DType dtype) noexcept {
  switch (dtype) {
    case f16: return kF16;
    case bf16: return kBf16;
    case f8e4m3: return kF8e4m3;
    case f8e5m2: return kF8e5m2;
    case tf32: return kTf32;
    default: return kF32;
  }
}

double round_to(DType dtype, double value) noexcept {
  if (dtype == f64) return value;
  const Format& format = format_of(dtype);
  return decode_bits(format, encode_bits(format, value));
}

double max_finite(DType dtype) noexcept {
  if (dtype == f64) return std::numeric_limits<double>::max();
  const Format& format = format_of(dtype);
  return decode_bits(format, format.max_finite);
}

double overflow_threshold(DType dtype) noexcept {
  if (dtype == f64) return kInfinity;
  return max_finite(dtype) + half_ulp(dtype, max_finite(dtype));
}

double half_ulp(DType dtype, double magnitude) noexcept {
  if (dtype == f64) return 0;
  const Format& format = format_of(dtype);
  const double bounded = std::min(magnitude, max_finite(dtype));
  const int exponent = std::max(unpack(bounded).exponent, format.min_exponent);
  return power_of_two(exponent - format.fraction_bits - 1);
}

}  // namespace tilejit::arithmetic
