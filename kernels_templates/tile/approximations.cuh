// Approximations for values of at most 16 bits, with errors of a few units of 2^-22 of the result.
#pragma once

#include "tile/types.cuh"

namespace tile::math {

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

}  // namespace tile::math
