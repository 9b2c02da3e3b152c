// Divisions in single precision without the slow path of the compiler's, which whole numbers known
// when the kernel is compiled, such as the number of a row's elements, do not need, nor do 0 and
// divisors from 1 on. To ask whether it is needed takes as long as an approximate reciprocal, and
// the branch keeps the elements of a thread apart.
#pragma once

#include "tile/inverse.cuh"
#include "tile/types.cuh"

namespace tile::math {

// a / n for whole n from 1 on, rounded correctly unless it is below 2^-126. The compiler's division
// branches to a slow path if operands are very large or small, 0 among them. None is needed here: n
// has a correctly rounded reciprocal, which the compiler computes, and one step with the exact
// remainder corrects the quotient (Markstein, "Computation of elementary functions on the IBM RISC
// System/6000 processor", 1990). The remainder's sign is that which keeps the sign of 0.
TILE_DEVICE float div_by_whole(float a, float n) {
  const float reciprocal = 1 / n;
  const float quotient = a * reciprocal;
  if ((__float_as_int(n) & 0x7fffff) == 0) return quotient;  // a power of two
  const float exact = fmaf(fmaf(quotient, n, -a), -reciprocal, quotient);
  return fabsf(quotient) < __int_as_float(0x7f800000) ? exact : quotient;  // not of inf and nan
}

// a / b, rounded correctly, if a is often 0. The compiler's division takes a slow path for 0, three
// times as long for all lanes of the warp. So another number is divided by b, one that gives inf or
// 0 only where 0 times that is the quotient of 0, too.
TILE_DEVICE float div_of_zeros(float a, float b) {
  const float quotient = (a == 0 ? 0x1p-24f : a) / b;
  return a == 0 ? a * quotient : quotient;
}

// 1 / x for x from 1 on, or nan, rounded correctly; 0 instead of less than 2^-126.
TILE_DEVICE float inverse_from_one(float x) {
  const float about = about_inverse(x);
  const float inverse = fmaf(fmaf(-x, about, 1), about, about);
  return x < __int_as_float(0x7f800000) ? inverse : about;
}

// a / b for b from 1/4 on, or nan. The remainder, and with it the rounding, is exact if a is 2^-60
// or more, or 0, and the quotient 2^-126; 0 for b above 2^126.
TILE_DEVICE float quotient_from_one(float a, float b) {
  const float about = about_inverse(b);
  const float inverse = fmaf(fmaf(-b, about, 1), about, about);
  const float quotient = a * inverse;
  const float exact = fmaf(fmaf(quotient, b, -a), -inverse, quotient);
  return fabsf(exact) < __int_as_float(0x7f800000) ? exact : a * about;
}

// a / b for b from 1 on, or nan, rounded correctly unless it is below 2^-126.
TILE_DEVICE float div_from_one(float a, float b) {
  const bool tiny = fabsf(a) < 0x1p-40f;
  return quotient_from_one(a * (tiny ? 0x1p64f : 0.25f), b * 0.25f) * (tiny ? 0x1p-66f : 1.0f);
}

// A divisor from 1 on, or nan, with what all quotients by it need.
struct DivisorFromOne {
  float value, quarter, inverse;

  DivisorFromOne() = default;
  TILE_DEVICE DivisorFromOne(float b) : value(b), quarter(b * 0.25f) {
    const float about = about_inverse(quarter);
    const float exact = fmaf(fmaf(-quarter, about, 1), about, about);
    inverse = exact == exact ? exact : about;  // 0 of inf
  }
  TILE_DEVICE operator float() const { return value; }
};
TILE_DEVICE float div_from_one(float a, const DivisorFromOne& b) {
  const bool tiny = fabsf(a) < 0x1p-40f;
  const float scaled = a * (tiny ? 0x1p64f : 0.25f), quotient = scaled * b.inverse;
  const float exact = fmaf(fmaf(quotient, b.quarter, -scaled), -b.inverse, quotient);
  const bool finite = fabsf(exact) < __int_as_float(0x7f800000);
  return (finite ? exact : quotient) * (tiny ? 0x1p-66f : 1.0f);
}

// One over the root of x from 2^-126 on, or nan: rsqrtf without its steps for smaller ones.
TILE_DEVICE float rsqrt_of_normal(float x) {
#if __CUDA_ARCH__
  float about;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(about) : "f"(x));
  return about;
#else
  return 1 / sqrtf(x);
#endif
}

// The root of x from 2^-60 on, or nan, rounded correctly.
TILE_DEVICE float root_of_normal(float x) {
  const float about = rsqrt_of_normal(x);
  const float root = x * about;
  const float exact = fmaf(fmaf(-root, root, x), 0.5f * about, root);
  return x < __int_as_float(0x7f800000) ? exact : x;
}

}  // namespace tile::math
