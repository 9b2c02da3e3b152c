// out(c) = formula(in(c)) for every coordinate c of the iteration space.
// The space is a list of vectors: kVector neighbours along the innermost mode. A block takes
// kThreads * kUnroll of them, a thread every kThreads-th, and loads all of its vectors before it
// stores one, so that kUnroll loads an operand are in flight and in-place operation is safe.
#include "plan.cuh"  // generated: constants, Params, Coord, Inputs, Outputs, map()

template <class Index>
TILE_DEVICE void map_vector(const Params& p, const Coord<Index>& c, const Inputs& in) {
  Outputs out;
  map(p, in, out);
  out.store(p, c);
}

template <class Index>
TILE_DEVICE void fused_map(const Params& p) {
  const Index total = Index(p.total);
  const Index first = Index(blockIdx.x) * (kThreads * kUnroll) + threadIdx.x;
  if constexpr (kUnroll == 1) {  // the same without a loop costs the compiler a tenth less
    if (first >= total) return;
    const Coord<Index> c(p, first);
    Inputs in;  // (kVector) of every operand that is read
    in.load(p, c);
    map_vector(p, c, in);
  } else {
    Inputs in[kUnroll];  // (kUnroll,kVector)
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const Index v = first + Index(u * kThreads);
      if (v < total) in[u].load(p, Coord<Index>(p, v));
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const Index v = first + Index(u * kThreads);
      if (v < total) map_vector(p, Coord<Index>(p, v), in[u]);
    }
  }
}

#if INDEX_NARROW
extern "C" __global__ void __launch_bounds__(kThreads) KERNEL_NAME(const __grid_constant__ Params p) {
  fused_map<u32>(p);
}
#endif
#if INDEX_WIDE
extern "C" __global__ void __launch_bounds__(kThreads)
    KERNEL_NAME_WIDE(const __grid_constant__ Params p) {
  fused_map<u64>(p);
}
#endif
