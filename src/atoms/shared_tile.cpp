#include "atoms/shared_tile.hpp"

#include <algorithm>

#include "tilejit/error.hpp"

namespace tilejit::atoms {
namespace {

constexpr std::int64_t kUnit = 16;  // bytes: what descriptors count, and swizzles permute

[[noreturn]] void refuse(const SharedTile& tile, const std::string& why) {
  throw Error(ErrorCode::invalid_layout, "wgmma cannot read a part of a tile of " +
                                             std::to_string(tile.mn) + " by " +
                                             std::to_string(tile.k) + " elements of " +
                                             std::to_string(tile.element_bytes) + " bytes: " + why);
}

/// Bytes of a row of the block along the major dimension.
std::int64_t width(Swizzling swizzling) noexcept {
  return std::max<std::int64_t>(kUnit, operation::swizzle_bytes(swizzling));
}

/// The place of an element without the swizzle, which the hardware applies to whole addresses.
class Part {
 public:
  Part(const SharedTile& tile, int rows, int depth, int mn, int k)
      : bytes_(tile.element_bytes),
        first_row_(std::int64_t{mn} * rows),
        first_column_(std::int64_t{k} * depth),
        layout_(atoms::layout(tile).layout()) {}

  /// In bytes from the tile's begin.
  [[nodiscard]] std::int64_t at(std::int64_t row, std::int64_t column) const {
    const Coordinate place = {first_row_ + row, first_column_ + column};
    return layout_(place) * bytes_;
  }

 private:
  std::int64_t bytes_, first_row_, first_column_;
  Layout layout_;
};

/// What the hardware reads, in bytes from `start`. `along` and `across` are the coordinates in the
/// major dimension and in the other one, `along` in bytes.
std::int64_t read_at(const SharedTile& tile, const MatrixDescriptor& d, std::int64_t along,
                     std::int64_t across) {
  const std::int64_t wide = width(tile.swizzling);
  const bool swaps = tile.major == Major::mn && tile.swizzling == Swizzling::none;
  const std::int64_t to_next_rows = swaps ? d.leading : d.stride;
  const std::int64_t to_next_panel = swaps ? d.stride : d.leading;
  const bool one_panel = tile.major == Major::k && tile.swizzling != Swizzling::none;
  if (one_panel) return across % 8 * wide + across / 8 * to_next_rows + along;
  return across % 8 * wide + across / 8 * to_next_rows + along / wide * to_next_panel +
         along % wide;
}

std::uint64_t bits_of(const SharedTile& tile, const MatrixDescriptor& d) {
  const auto field = [&](std::int64_t bytes, int shift) {
    if (bytes % kUnit != 0 || bytes / kUnit >= 1 << 14) {
      refuse(tile, std::to_string(bytes) + " bytes do not fit a descriptor");
    }
    return static_cast<std::uint64_t>(bytes / kUnit) << shift;
  };
  // 1 is 128 bytes, 2 is 64 bytes, 3 is 32 bytes: the reverse of a tensor map's.
  const auto mode = static_cast<std::uint64_t>(
      tile.swizzling == Swizzling::none ? 0 : 4 - static_cast<int>(tile.swizzling));
  return field(d.start, 0) | field(d.leading, 16) | field(d.stride, 32) | mode << 62;
}

}  // namespace

ComposedLayout shared_block(Major major, Swizzling swizzling, int element_bytes) {
  const std::int64_t wide = width(swizzling) / element_bytes;
  const Layout plain = major == Major::k ? row_major({8, wide}) : column_major({wide, 8});
  if (swizzling == Swizzling::none) return plain;
  const Swizzle of_bytes(static_cast<int>(swizzling), 4, 3);
  return {upcast(of_bytes, element_bytes), 0, plain};
}

ComposedLayout layout(const SharedTile& tile) {
  return tile_to_shape(shared_block(tile.major, tile.swizzling, tile.element_bytes),
                       {tile.mn, tile.k},
                       tile.order == BlockOrder::mn_first ? TileOrder::left : TileOrder::right);
}

int alignment(const SharedTile& tile) noexcept {
  return static_cast<int>(8 * width(tile.swizzling));
}

MatrixDescriptor describe(const SharedTile& tile, int rows, int depth, int mn, int k) {
  if (mn < 0 || k < 0 || (mn + 1) * rows > tile.mn || (k + 1) * depth > tile.k) {
    refuse(tile, "part (" + std::to_string(mn) + "," + std::to_string(k) + ") of " +
                     std::to_string(rows) + " by " + std::to_string(depth) + " is not inside it");
  }
  const Part part(tile, rows, depth, mn, k);
  const bool k_major = tile.major == Major::k;
  const std::int64_t bytes = tile.element_bytes, wide = width(tile.swizzling);
  const std::int64_t along = (k_major ? depth : rows) * bytes, across = k_major ? rows : depth;
  const auto at = [&](std::int64_t along_bytes, std::int64_t across_rows) {
    const std::int64_t i = along_bytes / bytes;
    return k_major ? part.at(across_rows, i) : part.at(i, across_rows);
  };

  MatrixDescriptor d{.start = at(0, 0)};
  const std::int64_t to_next_rows = across > 8 ? at(0, 8) - d.start : 0;
  const std::int64_t to_next_panel = along > wide ? at(wide, 0) - d.start : 0;
  d.leading = to_next_panel;
  d.stride = to_next_rows;
  if (!k_major && tile.swizzling == Swizzling::none) std::swap(d.leading, d.stride);
  if (k_major && tile.swizzling != Swizzling::none) d.leading = kUnit;  // not read
  for (std::int64_t i = 0; i < along; i += bytes) {
    for (std::int64_t j = 0; j < across; ++j) {
      if (at(i, j) - d.start != read_at(tile, d, i, j)) {
        refuse(tile,
               "its elements are not where one descriptor could find them; choose rows and "
               "columns that are multiples of the block's");
      }
    }
  }
  d.bits = bits_of(tile, d);
  return d;
}

}  // namespace tilejit::atoms
