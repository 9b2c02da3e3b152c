// The order in which the tiles of a matrix are taken.
#pragma once

#include "tile/types.cuh"

namespace tile {

// Tile `number` of a grid of tiles. Groups of kGroup rows are taken column by column, so that
// blocks that run at the same time share rows and columns, which then are in the L2 cache.
struct GridTile {
  u32 m, n;
};
template <u32 kGroup>
TILE_DEVICE GridTile grid_tile(u32 number, u32 tiles_m, u32 tiles_n) {
  const u32 of_group = kGroup * tiles_n, first = number / of_group * kGroup,
            rest = number % of_group;
  const u32 height = tiles_m - first < kGroup ? tiles_m - first : kGroup;
  return {first + rest % height, rest / height};
}

}  // namespace tile
