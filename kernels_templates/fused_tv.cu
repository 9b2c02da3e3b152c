// out(c) = formula(in(c)) for every coordinate c of the iteration space, where the caller says by a
// thread-value layout which elements of a tile a thread takes, and in which order. A block takes
// one tile; a thread walks its values a vector at a time: kVector values that are neighbours along
// mode 0. It loads kUnroll of them before it stores the first; no other thread has these elements,
// so that in-place operation is safe. What lies behind the edge of the space is left out.
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
