// Products of fragments by one warp. The instruction is a struct that the library writes from its
// table of atoms (docs/atoms.md), here called Mma; it has the fragments' sizes and layouts and
// `fma`. This file has what is alike for all of them.
#pragma once

#include "tile/types.cuh"

namespace tile {

// The element of D that is value `value` of thread `thread`: its row and its column. Both are
// constants plus a part of the thread alone if `value` is a constant.
template <class Mma>
TILE_DEVICE constexpr int row_of_d(int thread, int value) {
  return typename Mma::LayoutC{}(thread, value) % Mma::kM;
}
template <class Mma>
TILE_DEVICE constexpr int column_of_d(int thread, int value) {
  return typename Mma::LayoutC{}(thread, value) / Mma::kM;
}

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
