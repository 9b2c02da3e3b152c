// Short forms of functions for scores of products of 16-bit operands, whose own rounding is larger
// than the errors of these.
#pragma once

#include "tile/approximations.cuh"

namespace tile::math {

// Within 2^-16 of tanh(x), relative to it. NaN stays NaN.
TILE_DEVICE float score_tanh(float x) {
  const float square = x * x;
  const float small = x * (1.f + square * (-0.333333333f + square * 0.133333333f));
  const float large = 1.f - fast_div(2.f, fast_exp2(x * 2.88539008f) + 1.f);
  return square < 0.0625f ? small : large;
}

}  // namespace tile::math
