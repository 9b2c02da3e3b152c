#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "operation/size_expression.hpp"

namespace tilejit::operation {

/// The shape of a launch as the kernel's author gives it, by expressions of symbols.
struct LaunchShape {
  /// Blocks along x, y, z; threads along x, y, z; bytes of shared memory per block, beyond what the
  /// kernel declares.
  enum Number : std::uint8_t { grid, block = 3, shared = 6, kCount };
  std::array<SizeExpression, kCount> numbers = {1, 1, 1, 1, 1, 1, 0};
  int cluster = 1;  ///< blocks along x
  /// A launch of 0 blocks launches nothing; else it is an error.
  bool may_be_empty = false;
  bool operator==(const LaunchShape&) const = default;
};

/// Whether a launch whose number `i` has that value has no blocks and is allowed to.
[[nodiscard]] inline bool is_empty_launch(const LaunchShape& shape, std::size_t i,
                                          std::int64_t value) noexcept {
  return shape.may_be_empty && i < LaunchShape::block && value == 0;
}
/// Throws Error{invalid_argument}, where() the place in the descriptor, if no device takes that
/// value of number `i`. Shared memory is checked against the device.
void check_launch_number(const LaunchShape& shape, std::size_t i, std::int64_t value);
/// The same for the numbers together: threads of a block, blocks of a cluster.
void check_launch_numbers(const LaunchShape& shape, const std::int64_t* values);

}  // namespace tilejit::operation
