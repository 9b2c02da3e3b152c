#pragma once

#include <bit>
#include <cstdint>

namespace tilejit::core {

/// a / b rounded up; a is 0 or more, b 1 or more.
[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) noexcept {
  return a / b + (a % b != 0);
}

/// The least power of two that is n or more, from 1 to 2^30.
[[nodiscard]] constexpr int power_of_two_from(std::int64_t n) noexcept {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  return static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(n < 1       ? 1
                                                                   : n > kMost ? kMost
                                                                               : n)));
}

}  // namespace tilejit::core
