// The order in which the tiles of an attention are taken by a block each.
#pragma once

#include "tile/types.cuh"

namespace tile {

// Tile `number` of `rows` tiles below each other, for each of `heads`. Groups of heads are taken
// one after another, as many as share L2. In a group, heads take turns, from the last row of tiles
// to the first: with a causal mask the longest tiles come first.
struct TileOfHead {
  u32 row, head;
};
TILE_DEVICE TileOfHead tile_of_heads(u32 number, u32 rows, u32 heads, u32 group) {
  const u32 first = number / (rows * group) * group, rest = number % (rows * group);
  const u32 width = heads - first < group ? heads - first : group;
  return {rows - 1 - rest / width, first + rest % width};
}
// Heads whose keys and values, of `bytes` each, have room in L2 beside others.
TILE_DEVICE u32 heads_of_group(i64 bytes) {
  const i64 most = (i64(24) << 20) / (bytes < 1 ? 1 : bytes);
  return most < 1 ? 1 : most > 4096 ? 4096 : u32(most);
}

}  // namespace tile
