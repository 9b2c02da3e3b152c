// Division by a whole number that is known when the kernel is compiled, such as the number of a
// row's elements.
#pragma once

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

}  // namespace tile::math
