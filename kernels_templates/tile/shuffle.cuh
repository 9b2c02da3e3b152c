// Values of any type that threads of a warp show each other.
#pragma once

#include "tile/types.cuh"

// What the thread `distance` before has; its own where there is none in the warp.
template <class T>
TILE_DEVICE T shuffle_up(const T& x, int distance) {
  static_assert(sizeof(T) % 4 == 0);
  T y;
#pragma unroll
  for (int i = 0; i < int(sizeof(T) / 4); ++i) {
    reinterpret_cast<u32*>(&y)[i] =
        __shfl_up_sync(0xffffffffu, reinterpret_cast<const u32*>(&x)[i], distance);
  }
  return y;
}

// What the thread has whose number in the warp differs from one's own by the bits of `mask`.
template <class T>
TILE_DEVICE T shuffle_xor(const T& x, int mask) {
  static_assert(sizeof(T) % 4 == 0);
  T y;
#pragma unroll
  for (int i = 0; i < int(sizeof(T) / 4); ++i) {
    reinterpret_cast<u32*>(&y)[i] =
        __shfl_xor_sync(0xffffffffu, reinterpret_cast<const u32*>(&x)[i], mask);
  }
  return y;
}
