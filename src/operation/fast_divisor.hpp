#pragma once

#include <cstdint>

namespace tilejit::operation {

/// Division by a value known at launch (Granlund and Montgomery, "Division by invariant integers
/// using multiplication", 1994), for dividends below 2^31:
/// n / d == (umulhi(n, magic) + n) >> shift.
struct FastDivisor {
  std::uint64_t divisor = 1;
  std::uint32_t magic = 1;
  std::uint32_t shift = 0;
};
/// `divisor` is at least 1. From 2^31 on, magic and shift are 0 and must not be used.
[[nodiscard]] FastDivisor make_divisor(std::int64_t divisor) noexcept;

}  // namespace tilejit::operation
