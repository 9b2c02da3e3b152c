// out(c) = formula(in(c)) for every coordinate c of the iteration space, for operands that are
// contiguous along two different modes, of which rows begin at addresses that are aligned only to
// an element: the outputs along mode 0, the transposed inputs along another. A block takes kRows
// rows of kColumns elements. Vectors of a row lie where its memory is aligned (tile/peeled.cuh),
// and each row of a tile begins where a sector does, up to kShear elements before the tile's first
// column. Tiles are sheared: they meet between sectors, and store whole vectors. Lines of
// transposed inputs are turned in registers and shared memory (tile/turned_lines.cuh). A thread has
// loaded its vectors before it stores any, so in-place operation is safe.
#include "plan.cuh"  // generated: constants, Params, Shared, Tile, Vector, with the formula

constexpr int kVectorsAcross = kColumns / kVector;
constexpr int kVectors = kVectorsAcross * kRows / kThreads;  // per thread

struct VectorPlace {
  int row, column;  // in elements and vectors
  TILE_DEVICE explicit VectorPlace(int v)
      : row((threadIdx.x + v * kThreads) / kVectorsAcross),
        column((threadIdx.x + v * kThreads) % kVectorsAcross) {}
};

extern "C" __global__ void __launch_bounds__(kThreads)
    KERNEL_NAME(const __grid_constant__ Params p) {
  __shared__ Shared shared;
  follow_previous_kernel();
  const Tile tile = tile_at(p, blockIdx.x);
  Lines lines;
  lines.load(p, tile);
  lines.put(p, tile, shared);
  Vector vectors[kAhead ? kVectors : 1];
  if constexpr (kAhead) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const VectorPlace at(v);
      if (at.row < tile.rows) vectors[v].load(p, tile, at.row, at.column);
    }
  }
  __syncthreads();
#pragma unroll kCopies
  for (int v = 0; v < kVectors; ++v) {
    const VectorPlace at(v);
    if (at.row >= tile.rows) continue;
    Vector& vector = vectors[kAhead ? v : 0];
    if (!kAhead) vector.load(p, tile, at.row, at.column);
    vector.map(p, tile, shared, at.row, at.column);
  }
}
