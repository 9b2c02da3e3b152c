// Divisions in single precision without the slow path of the compiler's, which whole numbers known
// when the kernel is compiled, such as the number of a row's elements, do not need, and 0 does not.
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

// a / b, rounded correctly, if a is often 0. The compiler's division takes a slow path for 0, three
// times as long for all lanes of the warp. So another number is divided by b, one that gives inf or
// 0 only where 0 times that is the quotient of 0, too.
TILE_DEVICE float div_of_zeros(float a, float b) {
  const float quotient = (a == 0 ? 0x1p-24f : a) / b;
  return a == 0 ? a * quotient : quotient;
}

}  // namespace tile::math
