// out(c) = formula(in(c)) for every coordinate c of the iteration space. The caller gives a
// thread-value layout that says which elements of a tile each thread takes, and in which order. A
// block takes one tile. A thread processes its values one vector at a time; a vector is kVector
// values that are neighbours along mode 0. The thread loads kUnroll vectors before it stores the
// first; no other thread has these elements, so in-place operation is safe. Elements beyond the
// edge of the space are skipped.
#include "plan.cuh"  // generated: constants, Params, Place, Tile, Element, Vector, with the formula

extern "C" __global__ void __launch_bounds__(kThreads)
    KERNEL_NAME(const __grid_constant__ Params p) {
  follow_previous_kernel();
  const Tile tile = tile_at(p, blockIdx.x);
  const Place thread = place_of_thread(threadIdx.x);
#pragma unroll 1
  for (int v = 0; v < kVectors; v += kUnroll) {
    Vector vectors[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const Element at(tile, thread, place_of_value((v + u) * kVector));
      if (at.exists(p)) vectors[u].load(p, at);
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const Element at(tile, thread, place_of_value((v + u) * kVector));
      if (at.exists(p)) vectors[u].map(p, at);
    }
  }
}
