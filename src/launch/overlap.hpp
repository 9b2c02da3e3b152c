#pragma once

#include <cstdint>
#include <span>

namespace tilejit::launch {

/// The bytes that a tensor occupies: elements of `element_bytes` at address + sum of coordinate *
/// stride.
struct Footprint {
  std::uint64_t address = 0;
  std::span<const std::int64_t> extents = {};  ///< one per leaf, all at least 1
  std::span<const std::int64_t> strides = {};  ///< elements, not negative; as many as extents
  std::int64_t element_bytes = 1;
  std::int64_t bytes = 0;  ///< from the first byte to the end of the last element
};

/// True if some byte belongs to both tensors. False if none does, even if their ranges interleave,
/// as those of two column blocks of one matrix do. Exact for usual layouts: whether two strided
/// sets meet is a linear equation in bounded integers, solved by branch and bound from the largest
/// stride down (as in NumPy's may_share_memory). Returns true above 32 leaves, or if the search
/// takes too long.
[[nodiscard]] bool share_memory(const Footprint& a, const Footprint& b) noexcept;

/// True if the two ranges have no byte in common. Each has at least one byte and does not wrap
/// around.
[[nodiscard]] inline bool are_apart(std::uint64_t a, std::uint64_t bytes_of_a, std::uint64_t b,
                                    std::uint64_t bytes_of_b) noexcept {
  return b - a >= bytes_of_a && a - b >= bytes_of_b;
}

}  // namespace tilejit::launch
