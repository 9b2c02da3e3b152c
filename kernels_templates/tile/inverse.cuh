// The approximate reciprocal of which divisions are made.
#pragma once

#include "tile/types.cuh"

namespace tile::math {

// 1 / x, with an error of a unit in the last place; 0 instead of less than 2^-126.
TILE_DEVICE float about_inverse(float x) {
#if __CUDA_ARCH__
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return x > 0x1p126f ? 0 : 1 / x;
#endif
}

}  // namespace tile::math
