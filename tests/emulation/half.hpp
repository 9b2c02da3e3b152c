// Half precision, rounded to nearest even.
#pragma once

#include <math.h>

namespace emulation {

inline float half_value(unsigned bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31), mantissa = static_cast<int>(bits & 1023);
  float x = exponent == 0 ? ldexpf(static_cast<float>(mantissa), -24)
                          : ldexpf(static_cast<float>(1024 + mantissa), exponent - 25);
  if (exponent == 31) x = mantissa == 0 ? INFINITY : NAN;
  return (bits & 0x8000) != 0 ? -x : x;
}
inline unsigned half_bits(float x) {
  if (x != x) return 0x7fff;
  const unsigned sign = signbit(x) ? 0x8000 : 0;
  const float a = fabsf(x);
  if (a >= 65520) return sign | 0x7c00;
  if (a < ldexpf(1, -14)) return sign | static_cast<unsigned>(nearbyintf(ldexpf(a, 24)));
  const int exponent = ilogbf(a);
  const auto mantissa = static_cast<unsigned>(nearbyintf(ldexpf(a, 10 - exponent)));
  return sign | ((static_cast<unsigned>(exponent + 15) << 10) + mantissa - 1024);
}

}  // namespace emulation
