// The order in which the tiles of an attention are taken.
#pragma once

#include "tile/types.cuh"

namespace tile {

// The number of the tile that is taken as number `turn`; ~0 after the last one. There are
// Work::rows(p) tiles below each other for each of Work::heads(p). As many heads as blocks can have
// at once are taken together, so that keys and values come from memory once. Among these, heads
// take turns, from the last row of tiles to the first: with a causal mask the longest come first.
// With a mask the first rows, likely short ones, are left to the end for all heads, so that blocks
// end together.
template <class Work, class Params>
TILE_DEVICE u32 attention_tile(const Params& p, u32 turn) {
  const u32 rows = Work::rows(p), heads = Work::heads(p);
  const u32 late = Work::kHasMask ? rows / 4 : 0, early = rows - late;
  if (turn >= rows * heads) return ~0u;
  if (turn >= early * heads) {
    const u32 rest = turn - early * heads;
    return rest % heads * rows + late - 1 - rest / heads;
  }
  const u32 group = (gridDim.x + rows - 1) / rows;
  const u32 first = turn / (early * group) * group, rest = turn % (early * group);
  const u32 width = heads - first < group ? heads - first : group;
  return (first + rest % width) * rows + rows - 1 - rest / width;
}

}  // namespace tile
