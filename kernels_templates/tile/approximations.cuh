// Approximations for values of at most 16 bits. Errors are a few units of 2^-22 of the result; of
// log, 2^-18 of it; of erf, 2^-16; of tanh, 2^-11 of it; of gelu and gelu_tanh, 2^-11 of x.
#pragma once

#include "tile/inverse.cuh"
#include "tile/types.cuh"

namespace tile::math {

TILE_DEVICE float fast_exp2(float x) {
#if __CUDA_ARCH__
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return exp2f(x);
#endif
}
TILE_DEVICE float fast_exp(float x) {
  return fast_exp2(x * 1.44269504f);
}
// The hardware's logarithm to base 2 has an error of 2^-22 near 1, where the result is small: four
// terms of the series are closer there.
TILE_DEVICE float fast_log(float x) {
  const float away = x - 1;
  const float near = away * fmaf(away, fmaf(away, fmaf(away, -0.25f, 1 / 3.0f), -0.5f), 1);
  const bool tiny = x < 0x1p-126f;
#if __CUDA_ARCH__
  float about;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(about) : "f"(tiny ? x * 0x1p24f : x));
#else
  const float about = log2f(tiny ? x * 0x1p24f : x);
#endif
  return fabsf(away) < 0x1p-4f ? near : (tiny ? about - 24 : about) * 0x1.62e43p-1f;
}
TILE_DEVICE float div_full(float a, float b) {
  float y;
  asm("div.full.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}
// The same in steps that the compiler sees: what depends on b alone, the special function among it,
// is computed once for all a, such as the elements of a row.
TILE_DEVICE float fast_div(float a, float b) {
  const float size = fabsf(b), by = size > 0x1p126f ? 0.25f : size < 0x1p-126f ? 0x1p24f : 1;
  return a * by * about_inverse(b * by);
}
// A divisor, with what all quotients by it need.
struct FastDivisor {
  float value, by, inverse;

  FastDivisor() = default;
  TILE_DEVICE FastDivisor(float b) : value(b) {
    const float size = fabsf(b);
    by = size > 0x1p126f ? 0.25f : size < 0x1p-126f ? 0x1p24f : 1;
    inverse = about_inverse(b * by);
  }
  TILE_DEVICE operator float() const { return value; }
};
TILE_DEVICE float fast_div(float a, const FastDivisor& b) {
  return a * b.by * b.inverse;
}
TILE_DEVICE float fast_sigmoid(float x) {
  return div_full(1, 1 + fast_exp(-x));
}
TILE_DEVICE float fast_silu(float x) {
  return div_full(x, 1 + fast_exp(-x));
}
TILE_DEVICE float fast_tanh(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
// Minimax polynomials: of erf(x) / x below 1 / 2, and of log2(1 - erf(x)) / x above, up to 4, from
// where on erf(x) is 1 in single precision.
TILE_DEVICE float fast_erf(float x) {
  const float square = x * x, size = fminf(fabsf(x), 4);
  float low = fmaf(square, 0x1.a6e89p-4f, -0x1.803dc6p-2f);
  low = x * fmaf(square, low, 0x1.20dca4p+0f);
  float high = fmaf(size, 0x1.13610cp-6f, -0x1.08c5cep-3f);
  high = size * fmaf(size, fmaf(size, high, -0x1.dc812cp-1f), -0x1.a00e22p+0f);
  high = copysignf(1 - fast_exp2(high), x);
  return fabsf(x) >= 0.5f ? high : low;
}
// erf(x) is close to tanh(x * (1.1296707 + 0.0998173 * x * x)).
TILE_DEVICE float fast_gelu(float x) {
  const float half = 0.5f * x;
  return half + half * fast_tanh(x * (0.79879780f + 0.03529075f * x * x));
}
TILE_DEVICE float fast_gelu_tanh(float x) {
  const float half = 0.5f * x;
  return half + half * fast_tanh(x * (0.79788456f + 0.035677408f * x * x));
}

}  // namespace tile::math
