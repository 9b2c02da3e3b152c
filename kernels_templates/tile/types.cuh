// Storage types of tensors, their exact conversion to compute types, and rounding back.
// No header of the toolkit is included here or in any file beside this one.
#pragma once

using i8 = signed char;
using i16 = short;
using i32 = int;
using i64 = long long;
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using f32 = float;
using f64 = double;

struct b8 {
  u8 value;  // 0 or 1; any other value reads as true
};
struct f16 {
  u16 bits;
};
struct bf16 {
  u16 bits;
};
struct f8e4m3 {
  u8 bits;
};
struct f8e5m2 {
  u8 bits;
};
struct tf32 {
  float value;
};

#define TILE_DEVICE __device__ __forceinline__

// The unsigned integer of that many bytes.
template <int kBytes>
struct SizedWord;
template <>
struct SizedWord<1> {
  using type = u8;
};
template <>
struct SizedWord<2> {
  using type = u16;
};
template <>
struct SizedWord<4> {
  using type = u32;
};
template <>
struct SizedWord<8> {
  using type = u64;
};

// ---- storage -> compute type: exact

TILE_DEVICE bool to_compute(b8 x) { return x.value != 0; }
TILE_DEVICE i8 to_compute(i8 x) { return x; }
TILE_DEVICE i16 to_compute(i16 x) { return x; }
TILE_DEVICE i32 to_compute(i32 x) { return x; }
TILE_DEVICE i64 to_compute(i64 x) { return x; }
TILE_DEVICE u8 to_compute(u8 x) { return x; }
TILE_DEVICE u16 to_compute(u16 x) { return x; }
TILE_DEVICE u32 to_compute(u32 x) { return x; }
TILE_DEVICE u64 to_compute(u64 x) { return x; }
TILE_DEVICE float to_compute(float x) { return x; }
TILE_DEVICE double to_compute(double x) { return x; }
TILE_DEVICE float to_compute(tf32 x) { return x.value; }
TILE_DEVICE float to_compute(bf16 x) { return __uint_as_float(u32(x.bits) << 16); }

TILE_DEVICE float half_bits_to_float(u16 bits) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(bits));
  return y;
}

TILE_DEVICE float to_compute(f16 x) { return half_bits_to_float(x.bits); }

#if __CUDA_ARCH__ >= 890
TILE_DEVICE float to_compute(f8e4m3 x) {
  u32 pair;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"(u16(x.bits)));
  return half_bits_to_float(u16(pair));
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

TILE_DEVICE float to_compute(f8e5m2 x) { return half_bits_to_float(u16(x.bits << 8)); }

// ---- compute type -> storage: one rounding, to nearest even unless noted

template <class Storage>
struct Convert {  // integers, f32, f64: the compute type is the storage type
  static TILE_DEVICE Storage from(Storage x) { return x; }
};
template <>
struct Convert<b8> {
  static TILE_DEVICE b8 from(bool x) { return {u8(x)}; }
};
template <>
struct Convert<f16> {
  static TILE_DEVICE f16 from(float x) {
    u16 bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return {bits};
  }
};
template <>
struct Convert<bf16> {
  static TILE_DEVICE bf16 from(float x) {
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
};
template <>
struct Convert<tf32> {  // to nearest, ties away from zero, as cvt.rna.tf32 does
  static TILE_DEVICE tf32 from(float x) {
    const u32 bits = __float_as_uint(x);
    if ((bits & 0x7f800000u) == 0x7f800000u) return {x};
    return {__uint_as_float((bits + 0x1000u) & 0xffffe000u)};
  }
};

// Saturating f8 for targets without the instruction: kMantissa bits, exponent bias kBias, largest
// finite magnitude kMax (code kMaxCode). The rounding carries into the exponent field on purpose.
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
struct Convert<f8e4m3> {
  static TILE_DEVICE f8e4m3 from(float x) {
#if __CUDA_ARCH__ >= 890
    u16 pair;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(x));
    return {u8(pair)};
#else
    return {float_to_f8<3, 7, 0x7eu>(x, 448.0f)};
#endif
  }
};
template <>
struct Convert<f8e5m2> {
  static TILE_DEVICE f8e5m2 from(float x) {
#if __CUDA_ARCH__ >= 890
    u16 pair;
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(x));
    return {u8(pair)};
#else
    return {float_to_f8<2, 15, 0x7bu>(x, 57344.0f)};
#endif
  }
};

template <class Storage, class Value>
TILE_DEVICE Storage store_as(Value x) {
  return Convert<Storage>::from(x);
}

// The value that a store would leave behind.
template <class Storage>
TILE_DEVICE float round_to(float x) {
  return to_compute(Convert<Storage>::from(x));
}

// ---- division by a value known at launch

// n / divisor for n < 2^31, after Granlund and Montgomery (1994); made by the host.
struct FastDivisor {
  u64 divisor;
  u32 magic;
  u32 shift;
};

TILE_DEVICE u32 divide(u32 n, const FastDivisor& by) {
  return (__umulhi(n, by.magic) + n) >> by.shift;
}
TILE_DEVICE u64 divide(u64 n, const FastDivisor& by) { return n / by.divisor; }
