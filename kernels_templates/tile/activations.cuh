// Activation functions of the formula language, for float and double.
#pragma once

#include "tile/types.cuh"

namespace tile::math {

template <class T>
TILE_DEVICE T sigmoid(T x) {
  return 1 / (1 + exp(-x));  // exp overflows to inf for very negative x: the result is 0
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

}  // namespace tile::math
