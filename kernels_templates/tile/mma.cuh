// Products of fragments by one warp. The instruction is a struct that the library writes from its
// table of atoms (docs/atoms.md), here called Mma; it has `fma`, and the sizes of fragments and the
// places of their values. This file has what is alike for all of them.
#pragma once

#include "tile/types.cuh"

namespace tile {

template <class C, int kCount>
TILE_DEVICE void clear(C (&d)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) d[i] = 0;
}

// d += a * b.
template <class Mma, class C, class A, class B>
TILE_DEVICE void accumulate(C (&d)[Mma::kC], const A (&a)[Mma::kA], const B (&b)[Mma::kB]) {
  Mma::fma(d, a, b, d);
}

}  // namespace tile
