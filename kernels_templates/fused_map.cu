// out(c) = formula(in(c)) for every coordinate c of the iteration space.
// The space is a list of vectors, each of kVector neighbours along the innermost mode. A block
// takes kThreads * kUnroll vectors; a thread takes every kThreads-th of them. A thread loads all
// its vectors before it stores the first, so that kUnroll loads per operand are in flight and
// in-place operation is safe.
#include "plan.cuh"  // generated: constants, Params, Vector, with the formula

// The compiler would move loads behind a division's branch, if they are used there.
TILE_DEVICE void end_loads() {
#ifdef LOADS_FIRST
  asm volatile("" ::: "memory");
#endif
}

template <class Index>
TILE_DEVICE void fused_map(const Params& p) {
  follow_previous_kernel();
  const Index total = Index(p.total);
  const Index first = Index(blockIdx.x) * (kThreads * kUnroll) + threadIdx.x;
  if constexpr (kUnroll == 1) {  // the same without loops compiles a tenth faster
    if (first >= total) return;
    Vector<Index> vector;
    vector.load(p, first);
    end_loads();
    vector.map(p, first);
  } else {
    Vector<Index> vectors[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const Index v = first + Index(u * kThreads);
      if (v < total) vectors[u].load(p, v);
    }
    end_loads();
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const Index v = first + Index(u * kThreads);
      if (v < total) vectors[u].map(p, v);
    }
  }
}

#if INDEX_NARROW
extern "C" __global__ void __launch_bounds__(kThreads)
    KERNEL_NAME(const __grid_constant__ Params p) {
  fused_map<u32>(p);
}
#endif
#if INDEX_WIDE
extern "C" __global__ void __launch_bounds__(kThreads)
    KERNEL_NAME_WIDE(const __grid_constant__ Params p) {
  fused_map<u64>(p);
}
#endif
