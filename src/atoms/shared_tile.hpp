#pragma once

#include <cstdint>
#include <string>

#include "operation/tensor_map.hpp"
#include "tilejit/swizzle.hpp"

namespace tilejit::atoms {

/// Which of an operand's two dimensions is contiguous: K, or M of A and N of B.
enum class Major : std::uint8_t { k, mn };

/// Which side of a tile is filled with blocks first.
enum class BlockOrder : std::uint8_t { mn_first, k_first };

/// The swizzle of a tensor map, of wgmma and of a tile: `none` to 128 bytes.
using Swizzling = operation::TensorMap::Swizzle;

/// An operand of wgmma in shared memory: (mn, k) elements, made of canonical blocks.
struct SharedTile {
  int element_bytes = 2;  ///< 1, 2 or 4
  Major major = Major::k;
  Swizzling swizzling = Swizzling::bytes_128;
  int mn = 0, k = 0;  ///< elements: multiples of the block's
  BlockOrder order = BlockOrder::mn_first;
  bool operator==(const SharedTile&) const = default;
};

/// The canonical block (CuTe's layout atom): 8 rows of the swizzle's width, or of 16 bytes without
/// one, along the major dimension. From (mn, k) to the element.
[[nodiscard]] ComposedLayout shared_block(Major major, Swizzling swizzling, int element_bytes);
/// The block repeated up to the tile. Throws Error{invalid_layout} if it does not divide the tile.
[[nodiscard]] ComposedLayout layout(const SharedTile& tile);
/// Bytes of which the tile's address must be a multiple: 128 to 1024.
[[nodiscard]] int alignment(const SharedTile& tile) noexcept;

/// What wgmma is told about a part of a tile at shared address 0 (PTX ISA, "Matrix-Descriptor
/// Format"). For another address, add address / 16 to the bits.
struct MatrixDescriptor {
  std::int64_t start = 0;    ///< bytes from the tile's begin
  std::int64_t leading = 0;  ///< LBO, in bytes; 16 or 0 where it is not used
  std::int64_t stride = 0;   ///< SBO, in bytes; 0 where it is not used
  std::uint64_t bits = 0;
  bool operator==(const MatrixDescriptor&) const = default;
};

/// The descriptor of rows mn * rows, ..., and columns k * depth, ..., of `tile`, of which one
/// instruction reads `rows` by `depth`. It is computed from the layout, and what it makes the
/// hardware read is compared with the layout for every element. Throws Error{invalid_layout} if
/// that part is not inside the tile, or no descriptor describes it.
[[nodiscard]] MatrixDescriptor describe(const SharedTile& tile, int rows, int depth, int mn, int k);

}  // namespace tilejit::atoms
