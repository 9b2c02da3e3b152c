#pragma once

#include <cstdint>
#include <span>

namespace tilejit::launch {

/// The bytes a tensor occupies: elements of `element_bytes` at address + sum of coordinate *
/// stride.
struct Footprint {
  std::uint64_t address = 0;
  std::span<const std::int64_t> extents = {};  ///< one a leaf, all at least 1
  std::span<const std::int64_t> strides = {};  ///< elements, not negative; as many as extents
  std::int64_t element_bytes = 1;
  std::int64_t bytes = 0;  ///< from the first byte to the end of the last element
};

/// True if some byte belongs to both tensors; false if none does, as for two column blocks of one
/// matrix, whose ranges interleave. Exact for usual layouts: whether two strided sets meet is a
/// linear equation in bounded integers, decided by branch and bound from the largest stride down
/// (as NumPy's may_share_memory does). Above 32 leaves, or when the search takes too long: true.
[[nodiscard]] bool share_memory(const Footprint& a, const Footprint& b) noexcept;

/// True if two ranges of at least a byte each, none of which wraps around, have no byte in common.
[[nodiscard]] inline bool are_apart(std::uint64_t a, std::uint64_t bytes_of_a, std::uint64_t b,
                                    std::uint64_t bytes_of_b) noexcept {
  return b - a >= bytes_of_a && a - b >= bytes_of_b;
}

}  // namespace tilejit::launch
