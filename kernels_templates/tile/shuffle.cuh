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

// The largest or smallest of the warp's values, of which nan is none; nan if there is none. By
// instructions of sm_80 on, which compare integers: so the bits of negative values are turned.
TILE_DEVICE i32 turned(i32 bits) {
  return bits ^ (bits >> 31 & 0x7fffffff);
}
TILE_DEVICE float warp_max(float x) {
  const i32 key = x == x ? turned(__float_as_int(x)) : i32(0x80000000);
  i32 most;
  asm volatile("redux.sync.max.s32 %0, %1, -1;" : "=r"(most) : "r"(key));
  return __int_as_float(turned(most));
}
TILE_DEVICE float warp_min(float x) {
  const i32 key = x == x ? turned(__float_as_int(x)) : i32(0x7fffffff);
  i32 least;
  asm volatile("redux.sync.min.s32 %0, %1, -1;" : "=r"(least) : "r"(key));
  return __int_as_float(turned(least));
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

// Leaves what kCount neighbours have together in each of them; `kOneRow` if that is what the whole
// warp has. Turns of the loop are written out kUnrolled at a time.
template <int kCount, bool kOneRow, int kUnrolled, class Stage>
TILE_DEVICE void combine_neighbours(Stage& a) {
  if constexpr (Stage::kExtremum && kOneRow) {
    a.combine_warp();
  } else {
#pragma unroll kUnrolled
    for (int offset = kCount / 2; offset > 0; offset /= 2) a.combine(shuffle_xor(a, offset));
  }
}
