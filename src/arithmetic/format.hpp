#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "tilejit/dtype.hpp"

namespace tilejit::arithmetic {

/// The result for a value beyond the largest finite one.
enum class Overflow : std::uint8_t { infinity, saturate };
/// The rounding of a value halfway between two neighbours.
enum class Ties : std::uint8_t { even, away };

/// A binary floating format narrower than f64, in IEEE 754's arrangement: sign, exponent, fraction.
/// Without its sign a code grows with the magnitude, so a rounding may carry from fraction to
/// exponent.
struct Format {
  int fraction_bits = 0;
  int min_exponent = 0;          ///< exponent of the smallest normal number
  int code_bits = 0;             ///< sign bit included
  std::uint32_t max_finite = 0;  ///< code of the largest finite number
  std::uint32_t nan = 0;         ///< the code that represents NaN
  Overflow overflow = Overflow::infinity;
  Ties ties = Ties::even;
};

inline constexpr Format kF16{10, -14, 16, 0x7bff, 0x7fff};
inline constexpr Format kBf16{7, -126, 16, 0x7f7f, 0x7fff};
inline constexpr Format kF8e4m3{3, -6, 8, 0x7e, 0x7f, Overflow::saturate};
inline constexpr Format kF8e5m2{2, -14, 8, 0x7b, 0x7f, Overflow::saturate};
/// As 19 bits. In memory these are the upper bits of an f32.
inline constexpr Format kTf32{10, -126, 19, 0x3fbff, 0x3ffff, Overflow::infinity, Ties::away};
inline constexpr Format kF32{23, -126, 32, 0x7f7fffff, 0x7fffffff};

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// 2^exponent for a normal double.
[[nodiscard]] constexpr double power_of_two(int exponent) noexcept {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// The code of `value`, rounded once. Works on the bits alone and ignores the rounding mode.
[[nodiscard]] std::uint32_t encode_bits(const Format& format, double value) noexcept;
/// Exact. Codes above `max_finite` are infinity if their fraction is 0 and the format has an
/// infinity; otherwise NaN.
[[nodiscard]] double decode_bits(const Format& format, std::uint32_t code) noexcept;

/// The format of a floating dtype other than f64.
[[nodiscard]] const Format& format_of(DType dtype) noexcept;

/// The value that a store of `value` to floating `dtype` leaves; f64 is unchanged.
[[nodiscard]] double round_to(DType dtype, double value) noexcept;
/// The largest finite value of a floating dtype.
[[nodiscard]] double max_finite(DType dtype) noexcept;
/// The smallest magnitude that rounds to infinity (or would, if the format did not saturate).
[[nodiscard]] double overflow_threshold(DType dtype) noexcept;
/// Half the distance between neighbours of `dtype` at `magnitude`; 0 for f64.
[[nodiscard]] double half_ulp(DType dtype, double magnitude) noexcept;

}  // namespace tilejit::arithmetic
