// 8-bit floats E4M3 and E5M2. Stores saturate. Uses instructions from sm_89 on, and integer
// arithmetic before.
#pragma once

#include "tile/f16.cuh"

namespace tile {

struct f8e4m3 {
  u8 bits;
};
struct f8e5m2 {
  u8 bits;
};

TILE_DEVICE void assign_bits(f8e4m3& x, u32 bits) {
  x.bits = u8(bits);
}
TILE_DEVICE void assign_bits(f8e5m2& x, u32 bits) {
  x.bits = u8(bits);
}
TILE_DEVICE u32 bits_of(f8e4m3 x) {
  return x.bits;
}
TILE_DEVICE u32 bits_of(f8e5m2 x) {
  return x.bits;
}

#if __CUDA_ARCH__ >= 890
TILE_DEVICE float to_compute(f8e4m3 x) {
  u32 pair;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"(u16(x.bits)));
  return to_compute(f16{u16(pair)});
}
#else
TILE_DEVICE float to_compute(f8e4m3 x) {
  const u32 magnitude = x.bits & 0x7fu;
  const float sign = x.bits & 0x80u ? -1.0f : 1.0f;
  if (magnitude == 0x7fu) return __uint_as_float(0x7fc00000u);
  if (magnitude < 8) return sign * float(magnitude) * 0x1p-9f;
  return sign * __uint_as_float((magnitude << 20) + (120u << 23));  // exponent bias 127 - 7
}
#endif

// E5M2 is the upper half of an f16.
TILE_DEVICE float to_compute(f8e5m2 x) {
  return to_compute(f16{u16(x.bits << 8)});
}

#if __CUDA_ARCH__ >= 890
template <>
TILE_DEVICE f8e4m3 store_as<f8e4m3>(float x) {
  u16 pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(x));
  return {u8(pair)};
}
template <>
TILE_DEVICE f8e5m2 store_as<f8e5m2>(float x) {
  u16 pair;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(x));
  return {u8(pair)};
}

template <>
TILE_DEVICE void unpack_word<f8e4m3>(u32 word, float* x) {
  u32 low, high;
  asm("{ .reg .b16 low, high; mov.b32 {low, high}, %2; cvt.rn.f16x2.e4m3x2 %0, low; "
      "cvt.rn.f16x2.e4m3x2 %1, high; }"
      : "=r"(low), "=r"(high)
      : "r"(word));
  unpack_word<f16>(low, x);
  unpack_word<f16>(high, x + 2);
}
template <>
TILE_DEVICE void pack_word<f8e4m3>(u32& word, const float* x) {
  asm("{ .reg .b16 low, high; cvt.rn.satfinite.e4m3x2.f32 low, %2, %1; "
      "cvt.rn.satfinite.e4m3x2.f32 high, %4, %3; mov.b32 %0, {low, high}; }"
      : "=r"(word)
      : "f"(x[0]), "f"(x[1]), "f"(x[2]), "f"(x[3]));
}
template <>
TILE_DEVICE void pack_word<f8e5m2>(u32& word, const float* x) {
  asm("{ .reg .b16 low, high; cvt.rn.satfinite.e5m2x2.f32 low, %2, %1; "
      "cvt.rn.satfinite.e5m2x2.f32 high, %4, %3; mov.b32 %0, {low, high}; }"
      : "=r"(word)
      : "f"(x[0]), "f"(x[1]), "f"(x[2]), "f"(x[3]));
}
#else
// Saturating f8 for targets without the instruction: kMantissa bits, exponent bias kBias, largest
// finite magnitude `max` of code kMaxCode. The rounding carries into the exponent on purpose.
template <int kMantissa, int kBias, u32 kMaxCode>
TILE_DEVICE u8 float_to_f8(float x, float max) {
  const u32 sign = (__float_as_uint(x) >> 24) & 0x80u;
  const float magnitude = fabsf(x);
  if (x != x) return u8(sign | 0x7fu);
  if (magnitude >= max) return u8(sign | kMaxCode);
  const u32 bits = __float_as_uint(magnitude);
  if (bits < u32(128 - kBias) << 23) {  // subnormal in f8: a multiple of 2^(1 - kBias - kMantissa)
    const float scale = __uint_as_float(u32(126 + kBias + kMantissa) << 23);
    return u8(sign | u32(__float2int_rn(magnitude * scale)));
  }
  constexpr int kDropped = 23 - kMantissa;
  const u32 rounded = bits + ((1u << (kDropped - 1)) - 1u) + ((bits >> kDropped) & 1u);
  return u8(sign | ((rounded - (u32(127 - kBias) << 23)) >> kDropped));
}
template <>
TILE_DEVICE f8e4m3 store_as<f8e4m3>(float x) {
  return {float_to_f8<3, 7, 0x7eu>(x, 448.0f)};
}
template <>
TILE_DEVICE f8e5m2 store_as<f8e5m2>(float x) {
  return {float_to_f8<2, 15, 0x7bu>(x, 57344.0f)};
}
#endif

}  // namespace tile
