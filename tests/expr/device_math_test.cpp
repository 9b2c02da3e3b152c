// kernels_templates/tile/math.cuh and its neighbours, compiled for the CPU: the same functions,
// against plain arithmetic.

#include <gtest/gtest.h>
#include <math.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "expr/host_float.hpp"
#include "expr/real_function.hpp"
#include "support/conversions.hpp"

#define __device__
#define __constant__
#define __noinline__
#define __forceinline__ inline

// CUDA's built-in functions that math.cuh calls.
inline float __int_as_float(int x) {
  return std::bit_cast<float>(x);
}
inline int __float_as_int(float x) {
  return std::bit_cast<int>(x);
}
inline double __longlong_as_double(long long x) {
  return std::bit_cast<double>(x);
}

template <class To, class From>
To convert_rz(From x) {
  if (x != x) return 0;  // like the instructions that tile/math.cuh uses
  if (x <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  if (x >= static_cast<From>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  return static_cast<To>(x);
}
inline int __float2int_rz(float x) {
  return convert_rz<int>(x);
}
inline unsigned __float2uint_rz(float x) {
  return convert_rz<unsigned>(x);
}
inline long long __float2ll_rz(float x) {
  return convert_rz<long long>(x);
}
inline unsigned long long __float2ull_rz(float x) {
  return convert_rz<unsigned long long>(x);
}
inline int __double2int_rz(double x) {
  return convert_rz<int>(x);
}
inline unsigned __double2uint_rz(double x) {
  return convert_rz<unsigned>(x);
}
inline long long __double2ll_rz(double x) {
  return convert_rz<long long>(x);
}
inline unsigned long long __double2ull_rz(double x) {
  return convert_rz<unsigned long long>(x);
}

template <class From>
float to_float_rz(From x) {
  const float nearest = static_cast<float>(x);
  const bool away =
      std::fabs(static_cast<long double>(nearest)) > std::fabs(static_cast<long double>(x));
  return away ? nextafterf(nearest, 0.0f) : nearest;
}
inline float __double2float_rz(double x) {
  return to_float_rz(x);
}
inline float __int2float_rz(int x) {
  return to_float_rz(x);
}
inline float __uint2float_rz(unsigned x) {
  return to_float_rz(x);
}
inline float __ll2float_rz(long long x) {
  return to_float_rz(x);
}
inline float __ull2float_rz(unsigned long long x) {
  return to_float_rz(x);
}

#include "tile/activations.cuh"
#include "tile/approximations.cuh"
#include "tile/convert.cuh"
#include "tile/division.cuh"
#include "tile/integers.cuh"
#include "tile/math.cuh"
#include "tile/rescale.cuh"
#include "tile/trigonometry.cuh"

namespace {

using namespace tile;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

int floor_div_of(int a, int b) {
  return b == 0 ? 0 : static_cast<int>(std::floor(double(a) / b));
}

template <class T>
T power_of(int base, int exponent) {
  if (exponent < 0)
    return static_cast<T>(base == 1 ? 1 : base == -1 ? (exponent % 2 != 0 ? -1 : 1) : 0);
  T result = 1;
  for (int i = 0; i < exponent; ++i) result = static_cast<T>(result * base);
  return result;
}

template <class T>
T shifted_of(int a, int count, bool left) {
  if (count < 0 || count >= 8) return static_cast<T>(!left && a < 0 ? -1 : 0);
  return static_cast<T>(left ? a * (1 << count)
                             : static_cast<int>(std::floor(a / double(1 << count))));
}

// Every pair of 8-bit integers.
template <class T>
void check_all_pairs() {
  for (int a = std::numeric_limits<T>::min(); a <= std::numeric_limits<T>::max(); ++a) {
    ASSERT_EQ(math::neg(T(a)), T(-a)) << a;
    for (int b = std::numeric_limits<T>::min(); b <= std::numeric_limits<T>::max(); ++b) {
      const T x = T(a);
      const T y = T(b);
      SCOPED_TRACE(::testing::Message() << a << " and " << b);
      ASSERT_EQ(math::add(x, y), T(a + b));
      ASSERT_EQ(math::sub(x, y), T(a - b));
      ASSERT_EQ(math::mul(x, y), T(a * b));
      ASSERT_EQ(math::floor_div(x, y), T(floor_div_of(a, b)));
      ASSERT_EQ(math::mod(x, y), b == 0 ? T(0) : T(a - floor_div_of(a, b) * b));
      ASSERT_EQ(math::pow(x, y), power_of<T>(a, b));
      ASSERT_EQ(math::shl(x, y), shifted_of<T>(a, b, true));
      ASSERT_EQ(math::shr(x, y), shifted_of<T>(a, b, false));
      ASSERT_EQ(math::min(x, y), a < b ? x : y);
      ASSERT_EQ(math::max(x, y), a < b ? y : x);
    }
  }
}

TEST(DeviceMath, QuotientsByNumbersFromOneAreRoundedCorrectly) {
  const auto bits = [](float x) { return std::bit_cast<std::uint32_t>(x); };
  std::mt19937 random(11);
  for (int i = 0; i < 200000; ++i) {
    const float a = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    const auto from_one = static_cast<std::uint32_t>(0x3f800000 + random() % 0x40000000);
    const float b = std::bit_cast<float>(from_one);
    const float want = a / b;
    if (std::isnan(want) || (want != 0 && !std::isnormal(want) && !std::isinf(want))) continue;
    ASSERT_EQ(bits(math::div_from_one(a, b)), bits(want)) << a << " / " << b;
    ASSERT_EQ(bits(math::div_from_one(a, math::DivisorFromOne(b))), bits(want)) << a << " / " << b;
    if (b >= 0x1p126f) continue;
    ASSERT_EQ(bits(math::inverse_from_one(b)), bits(1 / b)) << b;
    if (std::fabs(a) < 0x1p-60f) continue;
    ASSERT_EQ(bits(math::quotient_from_one(a, b)), bits(want)) << a << " / " << b;
  }
  for (const float b : {1.0f, 3.0f, 0x1p125f, 0x1p127f, std::numeric_limits<float>::max(), kInf}) {
    SCOPED_TRACE(b);
    for (const float a : {0.0f, 1.0f, 0x1p127f, kInf}) {
      if (a == kInf && b == kInf) continue;
      EXPECT_FLOAT_EQ(math::div_from_one(a, b), a / b);
      EXPECT_FALSE(std::signbit(math::div_from_one(a, b)));
      EXPECT_TRUE(std::signbit(math::div_from_one(-a, b)));
      EXPECT_EQ(bits(math::div_from_one(-a, math::DivisorFromOne(b))),
                bits(math::div_from_one(-a, b)));
    }
    EXPECT_TRUE(std::isnan(math::div_from_one(kNan, b)));
    EXPECT_TRUE(std::isnan(math::div_from_one(kNan, math::DivisorFromOne(b))));
  }
  EXPECT_EQ(math::div_from_one(kInf, 3), kInf);
  EXPECT_TRUE(std::isnan(math::div_from_one(kInf, kInf)));
  EXPECT_TRUE(std::isnan(math::div_from_one(1, kNan)));
  EXPECT_EQ(math::div_from_one(kInf, math::DivisorFromOne(3)), kInf);
  EXPECT_TRUE(std::isnan(math::div_from_one(kInf, math::DivisorFromOne(kInf))));
  EXPECT_TRUE(std::isnan(math::div_from_one(1, math::DivisorFromOne(kNan))));
  EXPECT_TRUE(std::isnan(math::silu(-kInf)));
  EXPECT_TRUE(std::isnan(math::sigmoid(kNan)));
}

// As div.full: within two units in the last place, of whatever operands, unless the quotient or the
// dividend is below 2^-124.
TEST(DeviceMath, ApproximateQuotientsHoldForAllDivisors) {
  std::mt19937 random(17);
  for (int i = 0; i < 200000; ++i) {
    const float a = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    const float b = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    const float want = a / b;
    if (std::isnan(want) || std::isinf(want)) {
      ASSERT_EQ(std::isnan(math::fast_div(a, b)), std::isnan(want)) << a << " / " << b;
      continue;
    }
    if (std::min(std::fabs(a), std::fabs(want)) < 0x1p-124f) continue;
    ASSERT_NEAR(math::fast_div(a, b) / want, 1, 0x1p-22) << a << " / " << b;
    ASSERT_EQ(math::fast_div(a, math::FastDivisor(b)), math::fast_div(a, b)) << a << " / " << b;
  }
  for (const float b : {0x1p-149f, 0x1p-127f, 0x1p126f, 0x1p127f})
    EXPECT_EQ(math::fast_div(b, b), 1) << b;
  EXPECT_EQ(math::fast_div(1, 0), kInf);
  EXPECT_EQ(math::fast_div(1, math::FastDivisor(0)), kInf);
  EXPECT_TRUE(std::isnan(math::fast_div(0, math::FastDivisor(0))));
  EXPECT_EQ(math::fast_div(1, kInf), 0);
  EXPECT_TRUE(std::isnan(math::fast_div(0, 0)));
  EXPECT_TRUE(std::isnan(math::fast_div(kInf, kInf)));
  EXPECT_TRUE(std::isnan(math::fast_div(1, kNan)));
}

TEST(DeviceMath, ApproximateLogarithmsHaveASmallRelativeError) {
  constexpr auto kInfBits = std::uint32_t{0x7f800000};
  for (std::uint32_t bits = 1; bits < kInfBits; bits += 331) {
    const float x = std::bit_cast<float>(bits);
    if (x == 1) continue;
    ASSERT_TRUE(std::fabs(math::fast_log(x) / std::log(double{x}) - 1) <= 0x1p-18) << x;
  }
  for (float x = 0.9f; x < 1.1f; x = std::nextafter(x, 2.0f)) {
    if (x == 1) continue;
    ASSERT_TRUE(std::fabs(math::fast_log(x) / std::log(double{x}) - 1) <= 0x1p-18) << x;
  }
  EXPECT_EQ(math::fast_log(1), 0);
  EXPECT_EQ(math::fast_log(0), -kInf);
  EXPECT_EQ(math::fast_log(kInf), kInf);
  EXPECT_TRUE(std::isnan(math::fast_log(-1)));
  EXPECT_TRUE(std::isnan(math::fast_log(kNan)));
}

TEST(DeviceMath, ApproximateErrorFunctionsHaveASmallRelativeError) {
  constexpr auto kInfBits = std::uint32_t{0x7f800000};
  for (std::uint32_t bits = 0x00800000; bits < kInfBits; bits += 331) {
    const float x = std::bit_cast<float>(bits);
    ASSERT_TRUE(std::fabs(math::fast_erf(x) / std::erf(double{x}) - 1) <= 0x1p-16) << x;
    ASSERT_EQ(math::fast_erf(-x), -math::fast_erf(x)) << x;
  }
  EXPECT_EQ(math::fast_erf(kInf), 1);
  EXPECT_EQ(math::fast_erf(-kInf), -1);
  EXPECT_TRUE(std::signbit(math::fast_erf(-0.0f)));
  EXPECT_TRUE(std::isnan(math::fast_erf(kNan)));
}

TEST(DeviceMath, RootsOfNormalNumbersAreRoundedCorrectly) {
  std::mt19937 random(13);
  for (int i = 0; i < 200000; ++i) {  // from 2^-60 on
    const auto bits = static_cast<std::uint32_t>(0x21800000 + random() % 0x5e000000);
    const float x = std::bit_cast<float>(bits);
    ASSERT_EQ(math::root_of_normal(x), std::sqrt(x)) << x;
  }
  EXPECT_EQ(math::root_of_normal(kInf), kInf);
  EXPECT_TRUE(std::isnan(math::root_of_normal(kNan)));
}

TEST(DeviceMath, QuotientsByWholeNumbersAreRoundedCorrectly) {
  std::mt19937 random(7);
  for (const float n : {1.0f, 3.0f, 6.0f, 10.0f, 64.0f, 243.0f, 1023.0f, 50257.0f, 16777213.0f}) {
    SCOPED_TRACE(n);
    for (int i = 0; i < 20000; ++i) {
      const float a = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
      const float want = a / n;
      if (std::isnan(want) || (want != 0 && !std::isnormal(want) && !std::isinf(want))) continue;
      ASSERT_EQ(std::bit_cast<std::uint32_t>(math::div_by_whole(a, n)),
                std::bit_cast<std::uint32_t>(want))
          << a;
    }
    EXPECT_EQ(math::div_by_whole(kInf, n), kInf);
    EXPECT_EQ(math::div_by_whole(-kInf, n), -kInf);
    EXPECT_TRUE(std::isnan(math::div_by_whole(kNan, n)));
    EXPECT_TRUE(std::signbit(math::div_by_whole(-0.0f, n)));
    EXPECT_FALSE(std::signbit(math::div_by_whole(0.0f, n)));
  }
  EXPECT_TRUE(std::isnan(math::div_by_whole(0.0f, 0.0f)));  // the mean of nothing
}

TEST(DeviceMath, QuotientsOfZeroHaveTheDivisionsResults) {
  constexpr float kSmallest = std::numeric_limits<float>::denorm_min();
  constexpr float kLargest = std::numeric_limits<float>::max();
  for (const float a : {0.0f, -0.0f, 1.0f, -7.0f, kSmallest, kInf, kNan}) {
    for (const float b :
         {1.0f, -1.0f, 0.0f, -0.0f, kInf, -kInf, kNan, kSmallest, -kSmallest, kLargest}) {
      SCOPED_TRACE(::testing::Message() << a << " / " << b);
      const float want = a / b, got = math::div_of_zeros(a, b);
      EXPECT_EQ(std::isnan(got), std::isnan(want));
      if (std::isnan(want)) continue;
      EXPECT_EQ(std::signbit(got), std::signbit(want));
      EXPECT_EQ(got, want);
    }
  }
}

/// What `got` is off, in units in the last place of the nearest float.
double ulps_between(double want, float got) {
  int exponent = 0;
  std::frexp(want, &exponent);
  return std::fabs(got - want) / std::ldexp(1, std::max(exponent, -125) - 24);
}

// Every 997th float, and more where arguments become too large to be reduced by subtraction.
TEST(DeviceMath, SinesAreTwoUnitsOffAtMost) {
  const auto check = [](float x) {
    const double wide = x;
    ASSERT_LE(ulps_between(std::sin(wide), math::sin(x)), 2) << x;
    ASSERT_LE(ulps_between(std::cos(wide), math::cos(x)), 2) << x;
    ASSERT_LE(ulps_between(std::tan(wide), math::tan(x)), 4) << x;
  };
  constexpr auto kInfBits = std::uint32_t{0x7f800000};
  for (std::uint32_t bits = 0; bits < kInfBits; bits += 997) {
    check(std::bit_cast<float>(bits));
    check(-std::bit_cast<float>(bits));
  }
  for (float x = 65000.0f; x < 66000.0f; x += 0.0625f) check(x);
  for (int i = 1; i < 100000; i += 7) check(static_cast<float>(i * 1.57079632679489661923));
}

TEST(DeviceMath, SinesOfModerateNumbersHaveTheSameBits) {
  for (float x = 0; x <= 65536; x += 1 + x / 256) {
    for (const float y : {x, -x, x * 0x1p-20f, x + 0.40625f}) {
      ASSERT_EQ(math::sin_of_moderate(y), math::sin(y)) << y;
      ASSERT_EQ(math::cos_of_moderate(y), math::cos(y)) << y;
      ASSERT_EQ(math::tan_of_moderate(y), math::tan(y)) << y;
    }
  }
}

TEST(DeviceMath, SinesAtTheirEdges) {
  for (const float x : {kInf, -kInf, kNan}) {
    EXPECT_TRUE(std::isnan(math::sin_of_moderate(x)));
    EXPECT_TRUE(std::isnan(math::cos_of_moderate(x)));
    EXPECT_TRUE(std::isnan(math::tan_of_moderate(x)));
    EXPECT_TRUE(std::isnan(math::sin(x)));
    EXPECT_TRUE(std::isnan(math::cos(x)));
    EXPECT_TRUE(std::isnan(math::tan(x)));
  }
  for (const float x : {0.0f, -0.0f, std::numeric_limits<float>::denorm_min(), -1e-30f}) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(math::sin(x)), std::bit_cast<std::uint32_t>(x));
    EXPECT_EQ(math::tan(x), x);
    EXPECT_EQ(math::cos(x), 1);
  }
}

TEST(DeviceMath, SignedBytes) {
  check_all_pairs<i8>();
}
TEST(DeviceMath, UnsignedBytes) {
  check_all_pairs<u8>();
}

TEST(DeviceMath, WideIntegersWrapAndNeverTrap) {
  constexpr i64 kMin = std::numeric_limits<i64>::min();
  constexpr i32 kMin32 = std::numeric_limits<i32>::min();
  EXPECT_EQ(math::floor_div(kMin32, -1), kMin32);
  EXPECT_EQ(math::mod(kMin32, -1), 0);
  EXPECT_EQ(math::floor_div(kMin, i64{-1}), kMin);
  EXPECT_EQ(math::mod(kMin, i64{-1}), 0);
  EXPECT_EQ(math::floor_div(kMin, i64{3}), kMin / 3 - 1);
  EXPECT_EQ(math::floor_div(i64{5}, i64{0}), 0);
  EXPECT_EQ(math::add(std::numeric_limits<i64>::max(), i64{1}), kMin);
  EXPECT_EQ(math::mul(kMin, i64{-1}), kMin);
  EXPECT_EQ(math::abs(kMin32), kMin32);
  EXPECT_EQ(math::abs(-7), 7);
  EXPECT_EQ(math::pow(i64{3}, i64{40}), 12157665459056928801ull);
  EXPECT_EQ(math::pow(u64{7}, u64{0}), 1u);
  EXPECT_EQ(math::shl(i64{1}, i64{63}), kMin);
  EXPECT_EQ(math::shl(i64{1}, i64{64}), 0);
  EXPECT_EQ(math::shr(kMin, i64{63}), -1);
  EXPECT_EQ(math::shr(kMin, i64{-1}), -1);
  EXPECT_EQ(math::shr(~u64{0}, u64{64}), 0u);
}

TEST(DeviceMath, FloatDivisionIsThatOfTheHost) {
  const double kValues[] = {0.0,  -0.0, 0.1,    -0.1, 1.0,   -1.0, 2.5,
                            -7.0, 1e30, -1e-30, kInf, -kInf, kNan};
  for (const double a : kValues) {
    for (const double b : kValues) {
      SCOPED_TRACE(::testing::Message() << a << " and " << b);
      const auto same = [](double x, double y) {
        return std::isnan(x) ? std::isnan(y) : x == y && std::signbit(x) == std::signbit(y);
      };
      EXPECT_TRUE(same(math::floor_div(a, b), tilejit::expr::floor_div(a, b)));
      EXPECT_TRUE(same(math::mod(a, b), tilejit::expr::floor_mod(a, b)));
    }
  }
  EXPECT_EQ(math::floor_div(-7.0f, 2.0f), -4.0f);
  EXPECT_EQ(math::mod(-7.0f, 2.0f), 1.0f);
  EXPECT_EQ(math::floor_div(1.0f, 0.0f), kInf);
  EXPECT_TRUE(std::isnan(math::mod(1.0f, 0.0f)));
}

TEST(DeviceMath, NansStayInReluAndClamp) {
  EXPECT_TRUE(std::isnan(math::relu(kNan)));
  EXPECT_TRUE(std::isnan(math::clamp(kNan, 0.0f, 1.0f)));
  EXPECT_EQ(math::relu(-3.0f), 0.0f);
  EXPECT_EQ(math::relu(2.0), 2.0);
  EXPECT_EQ(math::clamp(5.0f, 0.0f, 3.0f), 3.0f);
  EXPECT_EQ(math::clamp(-5, 0, 3), 0);
  EXPECT_EQ(math::clamp(0, 3, 1), 1);
  EXPECT_EQ(math::clamp(0.5f, kNan, kNan), 0.5f);
}

TEST(DeviceMath, ActivationsAtTheirEdges) {
  EXPECT_EQ(math::sigmoid(0.0f), 0.5f);
  EXPECT_EQ(math::sigmoid(-200.0f), 0.0f);
  EXPECT_EQ(math::sigmoid(200.0f), 1.0f);
  EXPECT_EQ(math::sigmoid(-kInf), 0.0f);
  EXPECT_EQ(math::silu(-200.0f), 0.0f);
  EXPECT_EQ(math::silu(kInf), kInf);
  EXPECT_EQ(math::gelu(kInf), kInf);
  EXPECT_EQ(math::gelu(-20.0f), 0.0f);
  EXPECT_EQ(math::gelu_tanh(-20.0f), 0.0f);
  for (double x = -8; x <= 8; x += 0.125) {
    EXPECT_NEAR(math::gelu(x), tilejit::expr::real_function(tilejit::expr::Op::gelu, x), 1e-15)
        << x;
    EXPECT_NEAR(math::gelu_tanh(x), tilejit::expr::real_function(tilejit::expr::Op::gelu_tanh, x),
                1e-15)
        << x;
    EXPECT_NEAR(math::silu(x), x * tilejit::expr::real_function(tilejit::expr::Op::sigmoid, x),
                1e-15)
        << x;
  }
}

TEST(DeviceMath, TruncatesSaturatesAndWrapsNarrowTypes) {
  EXPECT_EQ(math::truncate<i32>(-2.9f), -2);
  EXPECT_EQ(math::truncate<i32>(3e9f), std::numeric_limits<i32>::max());
  EXPECT_EQ(math::truncate<i32>(-1e30), std::numeric_limits<i32>::min());
  EXPECT_EQ(math::truncate<u32>(-1.0f), 0u);
  EXPECT_EQ(math::truncate<u32>(kInf), ~0u);
  EXPECT_EQ(math::truncate<i64>(1e30), std::numeric_limits<i64>::max());
  EXPECT_EQ(math::truncate<u64>(1e30f), ~0ull);
  EXPECT_EQ(math::truncate<i8>(300.7f), 44);
  EXPECT_EQ(math::truncate<u8>(-1.0f), 255);
  EXPECT_EQ(math::truncate<i16>(1e20f), -1);
  EXPECT_EQ(math::truncate<i64>(kNan), 0);
  EXPECT_EQ(math::truncate<u8>(double{kNan}), 0);
}

// Rounding the odd float to 8 bits must be the same as rounding the exact value.
template <class T>
void check_round_odd(T x) {
  const double direct = tilejit::expr::round_to(tilejit::bf16, static_cast<double>(x));
  EXPECT_EQ(tilejit::expr::round_to(tilejit::bf16, math::round_odd(x)), direct) << +x;
}

TEST(DeviceMath, RoundOddKeepsTheSideOfTies) {
  for (const double x :
       {1.00390625, 1.00390626, 1.0039062500001, -1.0117187500001, 1e300, -1e300, 1e-300}) {
    check_round_odd(x);
  }
  for (const i32 x : {16842752, 16842753, 16842751, -16842753, 2147483647, -2147483647 - 1}) {
    check_round_odd(x);
    check_round_odd(static_cast<u32>(x));
    check_round_odd(static_cast<i64>(x) * 65536);
    check_round_odd(static_cast<u64>(static_cast<u32>(x)) << 20);
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 10000; ++i) {
    const u64 bits = random();
    check_round_odd(static_cast<i32>(bits));
    check_round_odd(static_cast<i64>(bits) >> 11);  // 53 bits: the oracle's double is exact
    check_round_odd(bits >> 11);
  }
  EXPECT_TRUE(std::isnan(math::round_odd(double{kNan})));
  EXPECT_EQ(math::round_odd(double{kInf}), kInf);
}

// The float that emitted code rounds to `to`: the one of emit.cpp.
template <class T>
double converted(T x, tilejit::DType to) {
  using namespace tilejit;
  if (to == tilejit::f64) return static_cast<double>(x);
  const bool odd = sizeof(T) > 2 && (to == tilejit::bf16 || to == tilejit::tf32);
  if constexpr (sizeof(T) > 2) {
    if (odd) return expr::round_to(to, math::round_odd(x));
  }
  return expr::round_to(to, static_cast<float>(x));
}
double converted(const tilejit::test::Conversion& row) {
  switch (row.from) {
    case tilejit::i8: return converted(static_cast<i8>(row.value), row.to);
    case tilejit::u8: return converted(static_cast<u8>(row.value), row.to);
    case tilejit::i16: return converted(static_cast<i16>(row.value), row.to);
    case tilejit::u16: return converted(static_cast<u16>(row.value), row.to);
    case tilejit::i32: return converted(static_cast<i32>(row.value), row.to);
    case tilejit::u32: return converted(static_cast<u32>(row.value), row.to);
    case tilejit::i64: return converted(static_cast<i64>(row.value), row.to);
    default: return converted(static_cast<u64>(row.value), row.to);
  }
}

TEST(DeviceMath, IntegersRoundOnce) {
  for (const tilejit::test::Conversion& row : tilejit::test::kConversions) {
    EXPECT_EQ(converted(row), row.want)
        << to_string(row.from) << " to " << to_string(row.to) << " of " << row.value;
  }
}

// Errors with a mean of a fifth of an ulp, like those of CUDA's expf, made softmax of 10^6 elements
// 1.3 times as wrong as necessary: sums are multiplied by several such factors.
TEST(DeviceMath, RescalingFactorsAreRoundedWithoutBias) {
  const auto check = [](float (*function)(float), double (*exact)(double), double lowest) {
    std::mt19937 random(9);
    std::uniform_real_distribution<float> arguments(static_cast<float>(lowest), 0);
    constexpr int kCount = 200'000;
    double sum = 0, most = 0;
    for (int i = 0; i < kCount; ++i) {
      const float x = arguments(random);
      const double error = function(x) / exact(x) - 1;
      sum += error;
      most = std::max(most, std::abs(error));
    }
    EXPECT_LT(most, 0.75 * 0x1p-23);
    // Twenty factors then add up to a third of an ulp; expf's mean is 6e-9 to 11e-9.
    EXPECT_LT(std::abs(sum / kCount), 2e-9);
    EXPECT_EQ(function(0), 1);
    EXPECT_LT(function(-1e30F), 0x1p-125);
    EXPECT_LT(function(-std::numeric_limits<float>::infinity()), 0x1p-125);
  };
  check(math::rescaling_exp, std::exp, -87);
  check(math::rescaling_exp2, std::exp2, -126);
  check(math::rescaling_exp, std::exp, -0.5);
  check(math::rescaling_exp2, std::exp2, -0.5);
}

TEST(DeviceMath, SpecialValues) {
  EXPECT_EQ(math::inf_f32(), kInf);
  EXPECT_EQ(math::inf_f64(), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(math::nan_f32()));
  EXPECT_TRUE(std::isnan(math::nan_f64()));
}

}  // namespace
