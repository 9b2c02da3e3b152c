// What the rows of a block have, combined: a kernel that reduces results of rows further then reads
// an element per block.
#pragma once

#include "tile/reduce.cuh"
#include "tile/types.cuh"

namespace tile {

// Combines what the kThreads threads of a block have; the first one stores it.
template <int kThreads, class Totals, class Params>
TILE_DEVICE void store_totals(Totals& totals, const Params& p) {
  alignas(16) __shared__ unsigned char of_warps[sizeof(Totals) * kThreads / 32];
  reduce_along<kThreads, 1>(totals, threadIdx.x, 0, reinterpret_cast<Totals*>(of_warps));
  if (threadIdx.x == 0) totals.store(p);
}

}  // namespace tile
