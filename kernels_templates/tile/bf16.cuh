// bfloat16: the upper half of an f32.
#pragma once

#include "tile/packed.cuh"

namespace tile {

struct bf16 {
  u16 bits;
};

TILE_DEVICE void assign_bits(bf16& x, u32 bits) {
  x.bits = u16(bits);
}
TILE_DEVICE u32 bits_of(bf16 x) {
  return x.bits;
}
TILE_DEVICE float to_compute(bf16 x) {
  return __uint_as_float(u32(x.bits) << 16);
}
template <>
TILE_DEVICE bf16 store_as<bf16>(float x) {
#if __CUDA_ARCH__ >= 800
  u16 bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return {bits};
#else
  const u32 bits = __float_as_uint(x);
  if (x != x) return {u16(0x7fff)};
  return {u16((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
#endif
}

template <>
TILE_DEVICE void unpack_word<bf16>(u32 word, float* x) {
  x[0] = __uint_as_float(word << 16);
  x[1] = __uint_as_float(word & 0xffff0000u);
}
#if __CUDA_ARCH__ >= 800
template <>
TILE_DEVICE void pack_word<bf16>(u32& word, const float* x) {
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(x[1]), "f"(x[0]));
}
template <>
TILE_DEVICE u32 max_words<bf16>(u32 a, u32 b) {
  u32 y;
  asm("max.bf16x2 %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b));
  return y;
}
template <>
TILE_DEVICE u32 min_words<bf16>(u32 a, u32 b) {
  u32 y;
  asm("min.bf16x2 %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b));
  return y;
}
#endif

}  // namespace tile
