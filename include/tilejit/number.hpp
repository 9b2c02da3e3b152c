#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>

#include "tilejit/dtype.hpp"

namespace tilejit {

/// A number as a caller gives it: integers of i64 and u64 exactly, others as double.
class Number {
 public:
  constexpr Number() = default;                        ///< 0
  constexpr Number(std::integral auto value) noexcept  // NOLINT: written as a number
      : kind_(std::in_range<std::int64_t>(+value) ? Kind::integer : Kind::unsigned_integer),
        integer_(static_cast<std::int64_t>(value)) {}
  constexpr Number(std::floating_point auto value) noexcept  // NOLINT
      : kind_(Kind::floating), floating_(static_cast<double>(value)) {}

  [[nodiscard]] constexpr bool is_integer() const noexcept { return kind_ != Kind::floating; }
  /// An integer above 2^63-1.
  [[nodiscard]] constexpr bool exceeds_i64() const noexcept {
    return kind_ == Kind::unsigned_integer;
  }
  /// An integer's two's complement: its value, or the bits of a u64 above 2^63-1.
  [[nodiscard]] constexpr std::int64_t bits() const noexcept { return integer_; }
  /// The nearest value of `T`, ties to even.
  template <std::floating_point T>
  [[nodiscard]] constexpr T to() const noexcept {
    if (kind_ == Kind::floating) return static_cast<T>(floating_);
    return exceeds_i64() ? static_cast<T>(static_cast<std::uint64_t>(integer_))
                         : static_cast<T>(integer_);
  }
  /// Of the same kind, too: 3 and 3.0 differ, as their texts do.
  friend constexpr bool operator==(const Number&, const Number&) = default;

 private:
  enum class Kind : std::uint8_t { integer, unsigned_integer, floating };
  Kind kind_ = Kind::integer;
  std::int64_t integer_ = 0;
  double floating_ = 0;
};

/// True if a scalar of `dtype` takes `value`: an integer type the integers in its range, b8 0 and
/// 1; a floating type every number that is finite in the type it computes in, infinities and NaN.
[[nodiscard]] bool fits(DType dtype, const Number& value) noexcept;
/// The shortest text that reads back to the same number: "3", "3.0", "1e+300", "inf".
[[nodiscard]] std::string to_string(const Number& value);

}  // namespace tilejit
