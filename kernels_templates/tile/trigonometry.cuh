// sin, cos and tan in single precision, at most 2 units in the last place off (tan 4). CUDA's have
// a loop over an array in local memory for large arguments, once for each call in the code.
#pragma once

#include "tile/math.cuh"

namespace tile::math {

// x is remainder + quadrant * pi / 2, apart from full turns; the remainder is at most pi / 4, or
// hardly more.
struct Turned {
  float remainder;
  u32 quadrant;  // its last two bits

  // Word `word` + kNext of 2 / pi after the point, behind 32 zeros; `word` is at most 4. A choice
  // of constants, since a kernel with a table in memory starts later.
  template <int kNext>
  static TILE_DEVICE u32 two_over_pi(u32 word) {
    constexpr u32 kWords[8] = {0,          0xa2f9836e, 0x4e441529, 0xfc2757d1,
                               0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};
    const u32 low = word == 0 ? kWords[kNext] : kWords[kNext + 1];
    const u32 high = word == 2   ? kWords[kNext + 2]
                     : word == 3 ? kWords[kNext + 3]
                                 : kWords[kNext + 4];
    return word < 2 ? low : high;
  }

  // Above 2^16 there are not enough bits in x to subtract multiples of pi / 2 from it. It is an
  // integer times a power of two, of which only the bits of 2 / pi matter that do not give full
  // turns (M. Payne, R. Hanek, "Radian reduction for trigonometric functions", 1983).
  static __device__ __noinline__ Turned of_large(float x) {
    const u32 bits = u32(__float_as_int(x));
    const u64 mantissa = (bits & 0x7fffff) | 0x800000;
    const u32 first = (bits >> 23) - 120, word = first / 32, shift = first % 32;
    const u32 words[4] = {two_over_pi<0>(word), two_over_pi<1>(word), two_over_pi<2>(word),
                          two_over_pi<3>(word)};
    const auto part = [&](int i) {
      return u32((u64(words[i]) << 32 | words[i + 1]) << shift >> 32);
    };
    // Turns after the point; those before it are cut off.
    const u64 turns = (mantissa * part(0) << 32) + mantissa * part(1) + (mantissa * part(2) >> 32);
    const u32 quadrant = u32((turns + (1ull << 61)) >> 62);
    const i64 rest = i64(turns - (u64(quadrant) << 62));
    return {x < inf_f32() ? float(double(rest) * 0x1.921fb54442d18p-62) : nan_f32(), quadrant};
  }

  // 0 <= x <= 2^16; infinity gives nan.
  static TILE_DEVICE Turned of_moderate(float x) {
    // Added to 1.5 * 2^23, the number of quadrants is rounded to an integer in the last bits. pi /
    // 2 in three parts (W. Cody, W. Waite, "Software manual for the elementary functions", 1980).
    const float rounded = fmaf(x, 0x1.45f306p-1f, 0x1.8p23f), quadrants = rounded - 0x1.8p23f;
    Turned turned = {fmaf(quadrants, -0x1.921fb4p+0f, x), u32(__float_as_int(rounded))};
    turned.remainder = fmaf(quadrants, -0x1.4442dp-24f, turned.remainder);
    turned.remainder = fmaf(quadrants, -0x1.846988p-48f, turned.remainder);
    return turned;
  }

  // x >= 0
  static TILE_DEVICE Turned of(float x) {
    Turned turned = of_moderate(x);
    if (x > 0x1p16f) turned = of_large(x);
    return turned;
  }
};

// Minimax polynomials over -pi / 4 to pi / 4, with relative errors of 2^-28 and 2^-33.
TILE_DEVICE float sin_of_small(float x) {
  const float square = x * x;
  float y = fmaf(-0x1.994e5ap-13f, square, 0x1.11076p-7f);
  y = fmaf(y, square, -0x1.555546p-3f);
  return fmaf(y, x * square, x);
}
TILE_DEVICE float cos_of_small(float x) {
  const float square = x * x;
  float y = fmaf(0x1.9a020ap-16f, square, -0x1.6c0c8ap-10f);
  y = fmaf(y, square, 0x1.55554ap-5f);
  y = fmaf(y, square, -0.5f);
  return fmaf(y, square, 1.f);
}

// The sine of that angle, with its sign changed if the first bit of `sign` is set.
TILE_DEVICE float sin_after(const Turned& x, u32 sign) {
  const float y = x.quadrant & 1 ? cos_of_small(x.remainder) : sin_of_small(x.remainder);
  return __int_as_float(__float_as_int(y) ^ i32((x.quadrant << 30 ^ sign) & 0x80000000));
}

// Odd functions take the sign of x in the end, also that of 0.
TILE_DEVICE float sin_after_turns(const Turned& turned, float x) {
  return sin_after(turned, u32(__float_as_int(x)));
}
TILE_DEVICE float cos_after_turns(const Turned& turned) {
  return sin_after({turned.remainder, turned.quadrant + 1}, 0);
}
TILE_DEVICE float tan_after_turns(const Turned& turned, float x) {
  const float sin = sin_of_small(turned.remainder), cos = cos_of_small(turned.remainder);
  const float y = turned.quadrant & 1 ? -cos / sin : sin / cos;
  return x < 0 ? -y : y;
}

TILE_DEVICE float sin(float x) {
  return sin_after_turns(Turned::of(fabsf(x)), x);
}
TILE_DEVICE float cos(float x) {
  return cos_after_turns(Turned::of(fabsf(x)));
}
TILE_DEVICE float tan(float x) {
  return tan_after_turns(Turned::of(fabsf(x)), x);
}

// The same of |x| <= 2^16, infinity or nan, without a branch: behind one, the elements of a thread
// wait for each other. A thread that holds many would lack registers for all of them at once.
TILE_DEVICE Turned turned_of_moderate(float x) {
#ifdef KEEPS_BRANCHES
  return Turned::of(fabsf(x));
#else
  return Turned::of_moderate(fabsf(x));
#endif
}
TILE_DEVICE float sin_of_moderate(float x) {
  return sin_after_turns(turned_of_moderate(x), x);
}
TILE_DEVICE float cos_of_moderate(float x) {
  return cos_after_turns(turned_of_moderate(x));
}
TILE_DEVICE float tan_of_moderate(float x) {
  return tan_after_turns(turned_of_moderate(x), x);
}

}  // namespace tile::math
