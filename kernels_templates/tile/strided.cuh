// One thread's part of a tensor whose innermost mode has any stride, in elements: kCount
// neighbours, one access each, of which `valid` exist.
#pragma once

#include "tile/types.cuh"

namespace tile {

template <class T, int kCount>
struct Strided {
  T element[kCount];

  TILE_DEVICE void load(const T* p, i64 stride, int valid) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (i < valid) element[i] = p[i * stride];
    }
  }
  TILE_DEVICE void store(T* p, i64 stride, int valid) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (i < valid) p[i * stride] = element[i];
    }
  }
};

}  // namespace tile
