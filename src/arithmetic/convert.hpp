#pragma once

#include <cstdint>

#include "tilejit/dtype.hpp"

namespace tilejit::arithmetic {

/// Integers and bool are passed as std::int64_t: sign- or zero-extended, u64 by its bits.

/// Number of significant bits of an integer type; 1 for bool.
[[nodiscard]] int width(DType dtype) noexcept;
[[nodiscard]] bool is_signed(DType dtype) noexcept;

/// `value` modulo 2^width, extended again.
[[nodiscard]] std::int64_t wrap(std::uint64_t value, DType dtype) noexcept;

/// The conversion of a cast. Truncates. Saturates to 32- and 64-bit types; for 8- and 16-bit types
/// it saturates to i32 and then wraps. NaN gives 0. A cast to bool tells whether the value is not
/// 0.
[[nodiscard]] std::int64_t real_to_integer(double value, DType dtype) noexcept;
/// Rounds to nearest even beyond 2^53.
[[nodiscard]] double integer_to_real(std::int64_t value, DType dtype) noexcept;
/// The conversion of a cast. Wraps. A cast to bool tells whether the value is not 0.
[[nodiscard]] std::int64_t integer_to_integer(std::int64_t value, DType dtype) noexcept;

/// The smallest and the largest value of an integer type or bool, as doubles.
struct IntegerRange {
  double min = 0;
  double max = 1;
};
[[nodiscard]] IntegerRange integer_range(DType dtype) noexcept;

/// Loads a stored element of an integer type or bool. Any non-zero byte is a true bool.
[[nodiscard]] std::int64_t load_integer(DType dtype, const void* element) noexcept;
void store_integer(DType dtype, std::int64_t value, void* element) noexcept;

}  // namespace tilejit::arithmetic
