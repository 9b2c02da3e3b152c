// out(c) = formula(in(c)) for every coordinate c of the iteration space.
// The space is a list of vectors: kVector neighbours along the innermost mode. A block takes
// kThreads * kUnroll of them, a thread every kThreads-th, and loads all of its vectors before it
// stores one, so that kUnroll loads an operand are in flight and in-place operation is safe.
#include "tile/types.cuh"     // storage types, conversions, FastDivisor
#include "tile/math.cuh"      // functions of the formula language
#include "tile/fragment.cuh"  // Contiguous, Broadcast, Strided
#include "plan.cuh"           // generated: constants, Params, Coord, Inputs, Outputs, formula()

template <class Index>
TILE_DEVICE void fused_map(const Params& p) {
  const Index total = Index(p.total);
  const Index first = Index(blockIdx.x) * (kThreads * kUnroll) + threadIdx.x;
  Inputs in[kUnroll];  // (kUnroll,kVector) of every operand that is read
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const Index v = first + Index(u * kThreads);
    if (v < total) {
      const Coord<Index> c(p, v);
      in[u].load(p, c, c.valid(p));
    }
  }
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const Index v = first + Index(u * kThreads);
    if (v < total) {
      Outputs out;  // (kVector) of every operand that is written
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        Out element;
        formula(p, in[u].element(i), element);
        out.set(i, element);
      }
      const Coord<Index> c(p, v);
      out.store(p, c, c.valid(p));
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
