#include <bit>

#include "operation/fast_divisor.hpp"

namespace tilejit::operation {

FastDivisor make_divisor(std::int64_t divisor) noexcept {
  FastDivisor result{.divisor = static_cast<std::uint64_t>(divisor), .magic = 0, .shift = 0};
  if (divisor >= std::int64_t{1} << 31) return result;
  // magic = ceil(2^(32 + shift) / divisor) - 2^32 with shift = ceil(log2(divisor)).
  const std::uint64_t d = result.divisor;
  result.shift = static_cast<std::uint32_t>(std::bit_width(d - 1));
  const std::uint64_t power = std::uint64_t{1} << result.shift;
  result.magic = static_cast<std::uint32_t>((std::uint64_t{1} << 32) * (power - d) / d + 1);
  return result;
}

}  // namespace tilejit::operation
