// out(c) = formula(in(c)) for every coordinate c of the iteration space, for operands that are
// contiguous along several modes together, each in an order of its own.
// A block takes a box of the space, element by element. Operands whose order differs from that of
// the first output pass through shared memory: the threads walk through the box in the operand's
// own order on the global side, so that lanes are neighbours in memory, and in the first output's
// order on the other. What a thread's steps are apart is known when compiling. A block issues all
// its loads before it stores, so in-place operation is safe.
#include "plan.cuh"  // generated: constants, Params, Shared, Tile, Direct, Element, Transposed

extern "C" __global__ void __launch_bounds__(kThreads)
    KERNEL_NAME(const __grid_constant__ Params p) {
  __shared__ Shared shared;
  follow_previous_kernel();
  const Tile tile = tile_at(p, blockIdx.x);
  Transposed transposed(p, tile, shared);
  transposed.load(p, tile);
  const Direct at(p, tile, shared);
  const bool has_elements = threadIdx.x < Direct::kActive;
  Element elements[kCopies];
  if (has_elements) {
#pragma unroll
    for (int i = 0; i < kCopies; ++i) {
      if (at.exists(tile, 0, i)) elements[i].load(at, 0, i);
    }
  }
  transposed.put();
  __syncthreads();  // the box is there
  if (has_elements) {
#pragma unroll 1
    for (int g = 0; g < kGroups; ++g) {
#pragma unroll
      for (int i = 0; i < kCopies; ++i) {
        const bool computes = kComputesAll ? at.fits(g, i) : at.exists(tile, g, i);
        if (computes) elements[i].map(p, at, tile, elements, g, i);
        if (g + 1 < kGroups && at.exists(tile, g + 1, i)) elements[i].load(at, g + 1, i);
      }
    }
  }
  if constexpr (kTransposedOutputs) {
    __syncthreads();  // all results are there
    transposed.store(tile);
  }
}
