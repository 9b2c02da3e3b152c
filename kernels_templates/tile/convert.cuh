// Casts of the formula language that take more than one instruction.
#pragma once

#include "tile/math.cuh"

namespace tile::math {

// Floating point to integer: truncates, saturates at 32 or 64 bits, and turns NaN into 0. Narrower
// types wrap from i32.
template <class To, class From>
TILE_DEVICE To truncate(From x) {
  constexpr bool kDouble = sizeof(From) == 8;
  if constexpr (sizeof(To) < 4) {
    return To(truncate<i32>(x));
  } else {
    // The instructions turn NaN into 0 for f32 to 32 bits; for the others, it depends.
    if constexpr (kDouble || sizeof(To) == 8) {
      if (x != x) return 0;
    }
    if constexpr (sizeof(To) == 4 && kIsSigned<To>) {
      if constexpr (kDouble)
        return __double2int_rz(x);
      else
        return __float2int_rz(x);
    } else if constexpr (sizeof(To) == 4) {
      if constexpr (kDouble)
        return __double2uint_rz(x);
      else
        return __float2uint_rz(x);
    } else if constexpr (kIsSigned<To>) {
      if constexpr (kDouble)
        return __double2ll_rz(x);
      else
        return __float2ll_rz(x);
    } else {
      if constexpr (kDouble)
        return __double2ull_rz(x);
      else
        return __float2ull_rz(x);
    }
  }
}

// Rounds to odd: truncates, and sets the last bit if anything was lost. Rounding the result to a
// type of at most 22 bits gives the same as rounding `x` itself (Boldo and Melquiond, "Emulation of
// a FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008).
TILE_DEVICE float mark_inexact(float x, bool inexact) {
  return __int_as_float(__float_as_int(x) | int(inexact));
}
TILE_DEVICE float round_odd(double x) {
  const float y = __double2float_rz(x);
  return mark_inexact(y, y != x);
}
TILE_DEVICE float round_odd(i32 x) {
  const float y = __int2float_rz(x);
  return mark_inexact(y, __float2int_rz(y) != x);
}
TILE_DEVICE float round_odd(u32 x) {
  const float y = __uint2float_rz(x);
  return mark_inexact(y, __float2uint_rz(y) != x);
}
TILE_DEVICE float round_odd(i64 x) {
  const float y = __ll2float_rz(x);
  return mark_inexact(y, __float2ll_rz(y) != x);
}
TILE_DEVICE float round_odd(u64 x) {
  const float y = __ull2float_rz(x);
  return mark_inexact(y, __float2ull_rz(y) != x);
}

}  // namespace tile::math
