// Functions of the formula language that neither C++ operators nor CUDA's built-in functions are.
// T is a compute type: an integer, float or double. docs/formulas.md has their meaning. Those of
// integers are in tile/integers.cuh, casts in tile/convert.cuh. Included after tile/types.cuh.
#pragma once

namespace math {

TILE_DEVICE float inf_f32() {
  return __int_as_float(0x7f800000);
}
TILE_DEVICE float nan_f32() {
  return __int_as_float(0x7fc00000);
}
TILE_DEVICE double inf_f64() {
  return __longlong_as_double(0x7ff0000000000000ll);
}
TILE_DEVICE double nan_f64() {
  return __longlong_as_double(0x7ff8000000000000ll);
}

template <class T>
constexpr bool kIsFloat = T(0.5f) != T(0);
template <class T>
constexpr bool kIsSigned = T(-1) < T(1);

// ---- numbers of any kind

template <class T>
TILE_DEVICE T min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
TILE_DEVICE T max(T a, T b) {
  return a < b ? b : a;
}
template <class T>
TILE_DEVICE T relu(T a) {
  return a < 0 ? T(0) : a;
}
template <class T>
TILE_DEVICE T clamp(T x, T low, T high) {
  const T y = x < low ? low : x;
  return high < y ? high : y;
}

// ---- activations

template <class T>
TILE_DEVICE T sigmoid(T x) {
  return 1 / (1 + exp(-x));  // exp overflows to inf: 0 far below
}
template <class T>
TILE_DEVICE T silu(T x) {
  return x / (1 + exp(-x));
}
template <class T>
TILE_DEVICE T gelu(T x) {
  return T(0.5) * x * (1 + erf(x * T(0.70710678118654752440)));
}
template <class T>
TILE_DEVICE T gelu_tanh(T x) {
  return T(0.5) * x * (1 + tanh(T(0.79788456080286535588) * (x + T(0.044715) * x * x * x)));
}

// ---- approximations, good to some units of 2^-22 of the result: for floats of 16 bits and fewer

TILE_DEVICE float fast_exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
TILE_DEVICE float fast_exp(float x) {
  return fast_exp2(x * 1.44269504f);
}
TILE_DEVICE float fast_div(float a, float b) {
  float y;
  asm("div.full.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}
TILE_DEVICE float fast_sigmoid(float x) {
  return fast_div(1, 1 + fast_exp(-x));
}
TILE_DEVICE float fast_silu(float x) {
  return fast_div(x, 1 + fast_exp(-x));
}

}  // namespace math
