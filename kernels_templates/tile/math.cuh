// Functions of the formula language that are neither C++ operators nor CUDA's built-in functions. T
// is a compute type: an integer, float or double. docs/formulas.md defines their meaning. This
// header has those for any type; tile/integers.cuh, convert.cuh, activations.cuh and
// approximations.cuh have the others.
#pragma once

#include "tile/types.cuh"

namespace tile::math {

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

}  // namespace tile::math
