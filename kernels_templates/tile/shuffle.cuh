// Values of any type that threads of a warp show each other, all of them at once. By instruction:
// CUDA's functions take the compiler a thirtieth of the time of an empty kernel at each call.
#pragma once

#include "tile/types.cuh"

TILE_DEVICE u32 word_up(u32 x, int distance) {
  u32 y;
  asm volatile("shfl.sync.up.b32 %0, %1, %2, 0, -1;" : "=r"(y) : "r"(x), "r"(distance));
  return y;
}
TILE_DEVICE u32 word_xor(u32 x, int mask) {
  u32 y;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, -1;" : "=r"(y) : "r"(x), "r"(mask));
  return y;
}

// What the thread `distance` before has; its own where there is none in the warp.
template <class T>
TILE_DEVICE T shuffle_up(const T& x, int distance) {
  static_assert(sizeof(T) % 4 == 0);
  T y;
#pragma unroll
  for (int i = 0; i < int(sizeof(T) / 4); ++i)
    reinterpret_cast<u32*>(&y)[i] = word_up(reinterpret_cast<const u32*>(&x)[i], distance);
  return y;
}

// What the thread has whose number in the warp differs from one's own by the bits of `mask`.
template <class T>
TILE_DEVICE T shuffle_xor(const T& x, int mask) {
  static_assert(sizeof(T) % 4 == 0);
  T y;
#pragma unroll
  for (int i = 0; i < int(sizeof(T) / 4); ++i)
    reinterpret_cast<u32*>(&y)[i] = word_xor(reinterpret_cast<const u32*>(&x)[i], mask);
  return y;
}
