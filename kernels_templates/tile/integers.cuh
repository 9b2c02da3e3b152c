// Integer functions of the formula language, and floor division of all numbers.
#pragma once

#include "tile/math.cuh"

namespace tile::math {

// ---- integers that wrap: unsigned arithmetic, keeping the low bits

template <class T>
TILE_DEVICE T add(T a, T b) {
  return T(u64(a) + u64(b));
}
template <class T>
TILE_DEVICE T sub(T a, T b) {
  return T(u64(a) - u64(b));
}
template <class T>
TILE_DEVICE T mul(T a, T b) {
  return T(u64(a) * u64(b));
}
// As ~a + 1, in words that no compiler turns into a negation: from CUDA 12.6 to 13.3, ptxas makes
// one instruction of two minima or two maxima of signed integers on sm_90 and sm_100, which have
// instructions for three operands, and drops a negation there: max(max(a, -b), c) became
// max(a, b, c).
template <class T>
TILE_DEVICE T neg(T a) {
#if __CUDA_ARCH__
  if constexpr (sizeof(T) == 8) {
    T b;
    asm("{ .reg .b64 t; not.b64 t, %1; add.s64 %0, t, 1; }" : "=l"(b) : "l"(a));
    return b;
  } else {
    u32 b;
    asm("{ .reg .b32 t; not.b32 t, %1; add.s32 %0, t, 1; }" : "=r"(b) : "r"(u32(a)));
    return T(b);
  }
#else
  return sub(T(0), a);
#endif
}
template <class T>
TILE_DEVICE T abs(T a) {
  return a < 0 ? sub(T(0), a) : a;
}

template <class T>
TILE_DEVICE bool is_negative(T a) {
  if constexpr (kIsSigned<T>) return a < 0;
  return false;
}

// Dividing the smallest value by -1 overflows, so the code never divides by -1.
template <class T>
TILE_DEVICE T floor_div_int(T a, T b) {
  if (b == 0) return 0;
  if (kIsSigned<T> && b == T(-1)) return neg(a);
  const T q = a / b;
  return is_negative(a) != is_negative(b) && T(q * b) != a ? T(q - 1) : q;
}
template <class T>
TILE_DEVICE T mod_int(T a, T b) {
  if (b == 0 || (kIsSigned<T> && b == T(-1))) return 0;
  const T r = a % b;
  return r != 0 && is_negative(r) != is_negative(b) ? T(r + b) : r;
}

// Wraps; a negative power is the reciprocal truncated to an integer.
template <class T>
TILE_DEVICE T pow(T base, T exponent) {
  if (is_negative(exponent)) {
    if (base == T(-1)) return exponent & 1 ? T(-1) : T(1);
    return base == 1 ? 1 : 0;
  }
  T result = 1;
  for (; exponent != 0; exponent = T(exponent >> 1)) {
    if (exponent & 1) result = mul(result, base);
    base = mul(base, base);
  }
  return result;
}

// A count outside of [0, width) shifts every bit out.
template <class T>
TILE_DEVICE T shl(T a, T count) {
  return u64(count) < 8 * sizeof(T) ? T(u64(a) << int(count)) : T(0);
}
template <class T>
TILE_DEVICE T shr(T a, T count) {
  if (u64(count) < 8 * sizeof(T)) return T(a >> int(count));
  return is_negative(a) ? T(-1) : T(0);
}

// ---- floor division; the remainder has the divisor's sign; floats behave as in Python

template <class T>
TILE_DEVICE T mod(T a, T b) {
  if constexpr (kIsFloat<T>) {
    const T r = fmod(a, b);
    if (r == 0) return copysign(T(0), b);
    return (r < 0) != (b < 0) ? r + b : r;
  } else {
    return mod_int(a, b);
  }
}

template <class T>
TILE_DEVICE T floor_div(T a, T b) {
  if constexpr (kIsFloat<T>) {
    if (b == 0) return a / b;
    const T r = fmod(a, b);
    T q = (a - r) / b;
    if (r != 0 && (r < 0) != (b < 0)) q -= 1;
    if (q == 0) return copysign(T(0), a / b);
    const T whole = floor(q);
    return q - whole > T(0.5) ? whole + 1 : whole;
  } else {
    return floor_div_int(a, b);
  }
}

}  // namespace tile::math
