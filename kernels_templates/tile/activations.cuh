// Activation functions of the formula language, for float and double.
#pragma once

#include "tile/division.cuh"

namespace tile::math {

template <class T>
TILE_DEVICE T sigmoid(T x) {
  const T divisor = 1 + exp(-x);  // exp overflows to inf for very negative x: the result is 0
  if constexpr (sizeof(T) == 4) {
    return inverse_from_one(divisor);
  } else {
    return 1 / divisor;
  }
}
template <class T>
TILE_DEVICE T silu(T x) {
  const T divisor = 1 + exp(-x);
  if constexpr (sizeof(T) == 4) {
    return quotient_from_one(x, divisor);
  } else {
    return x / divisor;
  }
}
template <class T>
TILE_DEVICE T gelu(T x) {
  return T(0.5) * x * (1 + erf(x * T(0.70710678118654752440)));
}
template <class T>
TILE_DEVICE T gelu_tanh(T x) {
  return T(0.5) * x * (1 + tanh(T(0.79788456080286535588) * (x + T(0.044715) * x * x * x)));
}

}  // namespace tile::math
