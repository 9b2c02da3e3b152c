// Factors for sums that are rescaled when their maxima are combined: exp(x) and exp2(x) for x <= 0,
// with errors of at most 0.75 ulp. expf is as accurate for each value, but the mean of its errors
// is not 0: with each factor, a sum would drift further away from the exponentials that are divided
// by it.
#pragma once

#include "tile/types.cuh"

namespace tile::math {

// 2^power_of_2 exp(r).
TILE_DEVICE float scaled_exp(float power_of_2, float r) {  // |r| <= ln(2) / 2
  float p = 1.0f / 5040;
  p = fmaf(p, r, 1.0f / 720);
  p = fmaf(p, r, 1.0f / 120);
  p = fmaf(p, r, 1.0f / 24);
  p = fmaf(p, r, 1.0f / 6);
  p = fmaf(p, r, 0.5f);
  p = fmaf(p, r * r, r);
  return __int_as_float((int(power_of_2) + 127) << 23) * (1 + p);
}
TILE_DEVICE float rescaling_exp(float x) {
  x = fmaxf(x, -87);
  const float k = rintf(x * 1.44269504f);
  return scaled_exp(k, fmaf(k, -1.42860677e-6f, fmaf(k, -0.693145752f, x)));  // ln 2, in two parts
}
TILE_DEVICE float rescaling_exp2(float x) {
  x = fmaxf(x, -126);
  const float k = rintf(x);
  return scaled_exp(k, (x - k) * 0.693147181f);
}

}  // namespace tile::math
