// Functions of the formula language that neither C++ operators nor CUDA's built-in functions are.
// T is a compute type: an integer, float or double. docs/formulas.md has their meaning.
// Included after tile/types.cuh.
#pragma once

namespace math {

TILE_DEVICE float inf_f32() {
  return __int_as_float(0x7f800000);
}
TILE_DEVICE float nan_f32() {
  return __int_as_float(0x7fc00000);
}
TILE_DEVICE double inf_f64() {
  return __longlong_as_double(0x7ff0000000000000ll);
}
TILE_DEVICE double nan_f64() {
  return __longlong_as_double(0x7ff8000000000000ll);
}

template <class T>
constexpr bool kIsFloat = T(0.5f) != T(0);
template <class T>
constexpr bool kIsSigned = T(-1) < T(1);

// ---- integers that wrap: unsigned arithmetic, of which the low bits are kept

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
template <class T>
TILE_DEVICE T neg(T a) {
  return T(0 - u64(a));
}

template <class T>
TILE_DEVICE bool is_negative(T a) {
  if constexpr (kIsSigned<T>) return a < 0;
  return false;
}

// Division of the smallest value by -1 overflows, so -1 is not divided by.
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

// ---- floor division with the remainder's sign of the divisor; floats as in Python

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

// ---- numbers of any kind

template <class T>
TILE_DEVICE T min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
TILE_DEVICE T max(T a, T b) {
  return a < b ? b : a;
}
template <class T>
TILE_DEVICE T abs(T a) {
  return a < 0 ? neg(a) : a;
}
template <class T>
TILE_DEVICE T relu(T a) {
  return a < 0 ? T(0) : a;
}
template <class T>
TILE_DEVICE T clamp(T x, T low, T high) {
  const T y = x < low ? low : x;
  return high < y ? high : y;
}

// ---- activations

template <class T>
TILE_DEVICE T sigmoid(T x) {
  return 1 / (1 + exp(-x));  // exp overflows to inf: 0 far below
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

// ---- approximations, good to some units of 2^-22 of the result: for floats of 16 bits and fewer

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

// ---- casts

// Floating -> integer: towards zero, saturating at 32 or 64 bits, NaN to 0; narrow types wrap from
// i32.
template <class To, class From>
TILE_DEVICE To truncate(From x) {
  constexpr bool kDouble = sizeof(From) == 8;
  if constexpr (sizeof(To) < 4) {
    return To(truncate<i32>(x));
  } else {
    // The instructions make 0 of an f32 that is NaN where they give 32 bits; else it depends.
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

// Rounds to odd: towards zero, with the last bit set if anything was lost. Rounding the result to a
// type of at most 22 bits gives what rounding `x` itself would (Boldo and Melquiond, "Emulation of
// a FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008).
TILE_DEVICE float mark_inexact(float x, bool inexact) {
  return __int_as_float(__float_as_int(x) | int(inexact));
}
TILE_DEVICE float round_odd(double x) {
  const float y = __double2float_rz(x);
  return mark_inexact(y, y != x);
}
TILE_DEVICE float round_odd(i32 x) {
  return round_odd(double(x));
}
TILE_DEVICE float round_odd(u32 x) {
  return round_odd(double(x));
}
TILE_DEVICE float round_odd(i64 x) {
  const float y = __ll2float_rz(x);
  return mark_inexact(y, __float2ll_rz(y) != x);
}
TILE_DEVICE float round_odd(u64 x) {
  const float y = __ull2float_rz(x);
  return mark_inexact(y, __float2ull_rz(y) != x);
}

}  // namespace math
