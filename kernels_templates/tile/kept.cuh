// Inputs that all rows share, kept in a block's shared memory for rows that begin at unaligned
// addresses (tile/peeled.cuh).
#pragma once

#include "tile/chunk.cuh"
#include "tile/types.cuh"

namespace tile {

// A row's vectors are dealt to kBlocks blocks in turn, kThreads to each, in kSteps steps. Copies
// the chunks of block `block_rank`, for each step its own and the one before, since the vectors of
// a row may begin anywhere in a chunk. kTail: tile/chunk.cuh.
template <class Vector, int kTail, int kThreads, int kBlocks, int kSteps, class T>
TILE_DEVICE void keep_chunks(unsigned char* to, const T* from, const T* end, int block_rank) {
  constexpr int kCount = int(sizeof(Vector) / sizeof(T));
  for (int i = threadIdx.x; i < kSteps * (kThreads + 1); i += blockDim.x) {
    const i64 number =
        i64(i / (kThreads + 1) * kBlocks + block_rank) * kThreads + i % (kThreads + 1) - 1;
    Vector x;
    if (number >= 0) load_chunk<kTail>(x, from + number * kCount, end);
    reinterpret_cast<Vector*>(to)[i] = x;
  }
}

}  // namespace tile
