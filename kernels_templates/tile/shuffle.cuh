// Exchanges values of any type between all threads of a warp. Uses instructions, because each call
// of CUDA's functions takes the compiler a thirtieth of the time of an empty kernel. Two words are
// no loop for the same reason.
#pragma once

#include "tile/types.cuh"

namespace tile {

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

TILE_DEVICE u32 word_from(u32 x, int lane) {
  u32 y;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, -1;" : "=r"(y) : "r"(x), "r"(lane));
  return y;
}

// The largest or smallest of the warp's values, ignoring nan; nan if all are nan. Uses instructions
// of sm_80 and later. They compare integers, so the bits of negative values are flipped.
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

// The value of the thread `distance` before this one; the thread's own value if the warp has no
// such thread.
template <class T>
TILE_DEVICE T shuffle_up(T x, int distance) {
  static_assert(sizeof(T) % 4 == 0);
  u32* const word = reinterpret_cast<u32*>(&x);
  word[0] = word_up(word[0], distance);
  if constexpr (sizeof(T) > 4) word[1] = word_up(word[1], distance);
  if constexpr (sizeof(T) > 8) {
#pragma unroll
    for (int i = 2; i < int(sizeof(T) / 4); ++i) word[i] = word_up(word[i], distance);
  }
  return x;
}

// The value of the thread of that lane.
template <class T>
TILE_DEVICE T shuffle_from(const T& x, int lane) {
  static_assert(sizeof(T) % 4 == 0);
  T y;
#pragma unroll
  for (int i = 0; i < int(sizeof(T) / 4); ++i)
    reinterpret_cast<u32*>(&y)[i] = word_from(reinterpret_cast<const u32*>(&x)[i], lane);
  return y;
}

// The value of the thread whose lane number differs from this one's in the bits of `mask`.
template <class T>
TILE_DEVICE T shuffle_xor(T x, int mask) {
  static_assert(sizeof(T) % 4 == 0);
  u32* const word = reinterpret_cast<u32*>(&x);
  word[0] = word_xor(word[0], mask);
  if constexpr (sizeof(T) > 4) word[1] = word_xor(word[1], mask);
  if constexpr (sizeof(T) > 8) {
#pragma unroll
    for (int i = 2; i < int(sizeof(T) / 4); ++i) word[i] = word_xor(word[i], mask);
  }
  return x;
}

// Combines the values of kCount neighbours; each of them gets the result. `kWholeWarp`: all threads
// of the warp have values of the same row. `T::kExtremum` says whether T has a member combine_warp,
// which does so by one instruction. The loop is unrolled by kUnrolled.
template <int kCount, bool kWholeWarp, int kUnrolled, class T>
TILE_DEVICE void combine_neighbours(T& a) {
  if constexpr (T::kExtremum && kWholeWarp) {
    a.combine_warp();
  } else {
    // Another turn is asked for before the offset is halved, so that no turn waits for it.
#pragma unroll kUnrolled
    for (int offset = kCount / 2, more = offset; more != 0; offset /= 2) {
      a.combine(shuffle_xor(a, offset));
      more = offset > 1;
    }
  }
}

}  // namespace tile
