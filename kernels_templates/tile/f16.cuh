// IEEE half precision.
#pragma once

#include "tile/packed.cuh"

namespace tile {

struct f16 {
  u16 bits;
};

TILE_DEVICE void assign_bits(f16& x, u32 bits) {
  x.bits = u16(bits);
}
TILE_DEVICE u32 bits_of(f16 x) {
  return x.bits;
}
TILE_DEVICE float to_compute(f16 x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
}
template <>
TILE_DEVICE f16 store_as<f16>(float x) {
  u16 bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return {bits};
}

template <>
TILE_DEVICE float round_to<f16>(float x) {
  float y;
  asm("{ .reg .b16 bits; cvt.rn.f16.f32 bits, %1; cvt.f32.f16 %0, bits; }" : "=f"(y) : "f"(x));
  return y;
}

template <>
TILE_DEVICE void unpack_word<f16>(u32 word, float* x) {
  asm("{ .reg .b16 low, high; mov.b32 {low, high}, %2; cvt.f32.f16 %0, low; cvt.f32.f16 %1, high; }"
      : "=f"(x[0]), "=f"(x[1])
      : "r"(word));
}
#if __CUDA_ARCH__ >= 800
template <>
TILE_DEVICE void pack_word<f16>(u32& word, const float* x) {
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(x[1]), "f"(x[0]));
}
template <>
TILE_DEVICE u32 max_words<f16>(u32 a, u32 b) {
  u32 y;
  asm("max.f16x2 %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b));
  return y;
}
template <>
TILE_DEVICE u32 min_words<f16>(u32 a, u32 b) {
  u32 y;
  asm("min.f16x2 %0, %1, %2;" : "=r"(y) : "r"(a), "r"(b));
  return y;
}
#endif

}  // namespace tile
