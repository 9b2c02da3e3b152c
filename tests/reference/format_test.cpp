#include "arithmetic/format.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "tilejit/reference.hpp"

namespace tilejit::reference {
namespace {

using arithmetic::half_ulp;
using arithmetic::kInfinity;
using arithmetic::kNan;

// The values of codes 0x00 .. 0x7f; facts of the formats, taken from ml_dtypes 0.6.
constexpr double kE4m3Values[] = {
    0,        0x1p-9,   0x1p-8,   0x1.8p-8, 0x1p-7,   0x1.4p-7, 0x1.8p-7, 0x1.cp-7, 0x1p-6,
    0x1.2p-6, 0x1.4p-6, 0x1.6p-6, 0x1.8p-6, 0x1.ap-6, 0x1.cp-6, 0x1.ep-6, 0x1p-5,   0x1.2p-5,
    0x1.4p-5, 0x1.6p-5, 0x1.8p-5, 0x1.ap-5, 0x1.cp-5, 0x1.ep-5, 0x1p-4,   0x1.2p-4, 0x1.4p-4,
    0x1.6p-4, 0x1.8p-4, 0x1.ap-4, 0x1.cp-4, 0x1.ep-4, 0x1p-3,   0x1.2p-3, 0x1.4p-3, 0x1.6p-3,
    0x1.8p-3, 0x1.ap-3, 0x1.cp-3, 0x1.ep-3, 0x1p-2,   0x1.2p-2, 0x1.4p-2, 0x1.6p-2, 0x1.8p-2,
    0x1.ap-2, 0x1.cp-2, 0x1.ep-2, 0x1p-1,   0x1.2p-1, 0x1.4p-1, 0x1.6p-1, 0x1.8p-1, 0x1.ap-1,
    0x1.cp-1, 0x1.ep-1, 0x1p+0,   0x1.2p+0, 0x1.4p+0, 0x1.6p+0, 0x1.8p+0, 0x1.ap+0, 0x1.cp+0,
    0x1.ep+0, 0x1p+1,   0x1.2p+1, 0x1.4p+1, 0x1.6p+1, 0x1.8p+1, 0x1.ap+1, 0x1.cp+1, 0x1.ep+1,
    0x1p+2,   0x1.2p+2, 0x1.4p+2, 0x1.6p+2, 0x1.8p+2, 0x1.ap+2, 0x1.cp+2, 0x1.ep+2, 0x1p+3,
    0x1.2p+3, 0x1.4p+3, 0x1.6p+3, 0x1.8p+3, 0x1.ap+3, 0x1.cp+3, 0x1.ep+3, 0x1p+4,   0x1.2p+4,
    0x1.4p+4, 0x1.6p+4, 0x1.8p+4, 0x1.ap+4, 0x1.cp+4, 0x1.ep+4, 0x1p+5,   0x1.2p+5, 0x1.4p+5,
    0x1.6p+5, 0x1.8p+5, 0x1.ap+5, 0x1.cp+5, 0x1.ep+5, 0x1p+6,   0x1.2p+6, 0x1.4p+6, 0x1.6p+6,
    0x1.8p+6, 0x1.ap+6, 0x1.cp+6, 0x1.ep+6, 0x1p+7,   0x1.2p+7, 0x1.4p+7, 0x1.6p+7, 0x1.8p+7,
    0x1.ap+7, 0x1.cp+7, 0x1.ep+7, 0x1p+8,   0x1.2p+8, 0x1.4p+8, 0x1.6p+8, 0x1.8p+8, 0x1.ap+8,
    0x1.cp+8, kNan};
constexpr double kE5m2Values[] = {
    0,       0x1p-16,   0x1p-15,   0x1.8p-15, 0x1p-14,   0x1.4p-14, 0x1.8p-14, 0x1.cp-14,
    0x1p-13, 0x1.4p-13, 0x1.8p-13, 0x1.cp-13, 0x1p-12,   0x1.4p-12, 0x1.8p-12, 0x1.cp-12,
    0x1p-11, 0x1.4p-11, 0x1.8p-11, 0x1.cp-11, 0x1p-10,   0x1.4p-10, 0x1.8p-10, 0x1.cp-10,
    0x1p-9,  0x1.4p-9,  0x1.8p-9,  0x1.cp-9,  0x1p-8,    0x1.4p-8,  0x1.8p-8,  0x1.cp-8,
    0x1p-7,  0x1.4p-7,  0x1.8p-7,  0x1.cp-7,  0x1p-6,    0x1.4p-6,  0x1.8p-6,  0x1.cp-6,
    0x1p-5,  0x1.4p-5,  0x1.8p-5,  0x1.cp-5,  0x1p-4,    0x1.4p-4,  0x1.8p-4,  0x1.cp-4,
    0x1p-3,  0x1.4p-3,  0x1.8p-3,  0x1.cp-3,  0x1p-2,    0x1.4p-2,  0x1.8p-2,  0x1.cp-2,
    0x1p-1,  0x1.4p-1,  0x1.8p-1,  0x1.cp-1,  0x1p+0,    0x1.4p+0,  0x1.8p+0,  0x1.cp+0,
    0x1p+1,  0x1.4p+1,  0x1.8p+1,  0x1.cp+1,  0x1p+2,    0x1.4p+2,  0x1.8p+2,  0x1.cp+2,
    0x1p+3,  0x1.4p+3,  0x1.8p+3,  0x1.cp+3,  0x1p+4,    0x1.4p+4,  0x1.8p+4,  0x1.cp+4,
    0x1p+5,  0x1.4p+5,  0x1.8p+5,  0x1.cp+5,  0x1p+6,    0x1.4p+6,  0x1.8p+6,  0x1.cp+6,
    0x1p+7,  0x1.4p+7,  0x1.8p+7,  0x1.cp+7,  0x1p+8,    0x1.4p+8,  0x1.8p+8,  0x1.cp+8,
    0x1p+9,  0x1.4p+9,  0x1.8p+9,  0x1.cp+9,  0x1p+10,   0x1.4p+10, 0x1.8p+10, 0x1.cp+10,
    0x1p+11, 0x1.4p+11, 0x1.8p+11, 0x1.cp+11, 0x1p+12,   0x1.4p+12, 0x1.8p+12, 0x1.cp+12,
    0x1p+13, 0x1.4p+13, 0x1.8p+13, 0x1.cp+13, 0x1p+14,   0x1.4p+14, 0x1.8p+14, 0x1.cp+14,
    0x1p+15, 0x1.4p+15, 0x1.8p+15, 0x1.cp+15, kInfinity, kNan,      kNan,      kNan};

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

double rounded(DType dtype, double value) {
  std::uint64_t storage = 0;
  encode(dtype, value, &storage);
  return decode(dtype, &storage);
}

TEST(Decode, GivesEveryF8Value) {
  for (int code = 0; code < 128; ++code) {
    const auto positive = static_cast<std::uint8_t>(code);
    const auto negative = static_cast<std::uint8_t>(code | 0x80);
    EXPECT_TRUE(same(decode(f8e4m3, &positive), kE4m3Values[code])) << code;
    EXPECT_TRUE(same(decode(f8e5m2, &positive), kE5m2Values[code])) << code;
    if (std::isnan(decode(f8e4m3, &positive)) || std::isnan(decode(f8e5m2, &positive))) continue;
    EXPECT_TRUE(same(decode(f8e4m3, &negative), -kE4m3Values[code])) << code;
    EXPECT_TRUE(same(decode(f8e5m2, &negative), -kE5m2Values[code])) << code;
  }
}

TEST(Decode, GivesEveryBf16ValueAsTheUpperHalfOfAnF32) {
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    const auto stored = static_cast<std::uint16_t>(code);
    EXPECT_TRUE(same(decode(bf16, &stored), std::bit_cast<float>(code << 16))) << code;
  }
}

// IEEE 754-2019, 3.4: sign, 5 bits of exponent with bias 15, 10 bits of fraction.
TEST(Decode, GivesEveryF16ValueByTheDefinition) {
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    const int exponent = (code >> 10) & 31, fraction = code & 1023;
    double want =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31) want = fraction == 0 ? kInfinity : kNan;
    if (code >= 0x8000) want = -want;
    const auto stored = static_cast<std::uint16_t>(code);
    EXPECT_TRUE(same(decode(f16, &stored), want)) << code;
  }
}

struct NarrowType {
  DType dtype;
  std::uint32_t codes;  // without sign, up to and including the largest finite one
  bool saturates;
};
constexpr NarrowType kNarrowTypes[] = {
    {f16, 0x7c00, false}, {bf16, 0x7f80, false}, {f8e4m3, 0x7f, true}, {f8e5m2, 0x7c, true}};

double value_of(DType dtype, std::uint32_t code) {
  return decode(dtype, &code);  // little-endian: the low bytes are the element
}

TEST(Encode, ReturnsEveryFiniteCode) {
  for (const NarrowType& type : kNarrowTypes) {
    SCOPED_TRACE(to_string(type.dtype));
    for (std::uint32_t code = 0; code < type.codes; ++code) {
      std::uint32_t positive = 0, negative = 0;
      encode(type.dtype, value_of(type.dtype, code), &positive);
      encode(type.dtype, -value_of(type.dtype, code), &negative);
      EXPECT_EQ(positive, code);
      EXPECT_EQ(negative, code | 1u << (8 * size_bytes(type.dtype) - 1));
    }
  }
}

// Between any two neighbours, including subnormal ones: ties go to the even code, everything else
// to the nearer one.
TEST(Encode, RoundsToNearestEvenBetweenAllNeighbours) {
  for (const NarrowType& type : kNarrowTypes) {
    SCOPED_TRACE(to_string(type.dtype));
    for (std::uint32_t code = 0; code + 1 < type.codes; ++code) {
      const double below = value_of(type.dtype, code), above = value_of(type.dtype, code + 1);
      const double half = (below + above) / 2;
      EXPECT_EQ(rounded(type.dtype, half), code % 2 == 0 ? below : above) << code;
      EXPECT_EQ(rounded(type.dtype, std::nextafter(half, 0)), below) << code;
      EXPECT_EQ(rounded(type.dtype, std::nextafter(half, kInfinity)), above) << code;
      EXPECT_EQ(rounded(type.dtype, -std::nextafter(half, kInfinity)), -above) << code;
    }
  }
}

struct RoundingCase {
  const char* name;
  DType dtype;
  double value, want;
};
constexpr RoundingCase kRoundings[] = {
    {"f16 largest", f16, 65504, 65504},
    {"f16 below the overflow threshold", f16, 65519.999, 65504},
    {"f16 overflow threshold", f16, 65520, kInfinity},
    {"f16 negative overflow", f16, -1e9, -kInfinity},
    {"f16 half the smallest subnormal", f16, 0x1p-25, 0},
    {"f16 above half the smallest subnormal", f16, 0x1.8p-25, 0x1p-24},
    {"bf16 overflow threshold", bf16, 0x1.ffp127, kInfinity},
    {"bf16 beyond f32", bf16, 1e300, kInfinity},
    {"bf16 subnormal of f64", bf16, 0x1p-1060, 0},
    {"f8e4m3 saturates", f8e4m3, 449, 448},
    {"f8e4m3 saturates far out", f8e4m3, -1e30, -448},
    {"f8e4m3 saturates infinity", f8e4m3, kInfinity, 448},
    {"f8e4m3 NaN", f8e4m3, kNan, kNan},
    {"f8e5m2 saturates", f8e5m2, 61440, 57344},
    {"f8e5m2 saturates infinity", f8e5m2, -kInfinity, -57344},
    {"f8e5m2 NaN", f8e5m2, kNan, kNan},
    {"tf32 keeps 10 bits", tf32, 1 + 0x1p-10, 1 + 0x1p-10},
    {"tf32 ties away from zero", tf32, 1 + 0x1p-11, 1 + 0x1p-10},
    {"tf32 ties away from zero, negative", tf32, -1 - 0x1p-11, -1 - 0x1p-10},
    {"tf32 below a tie", tf32, 1 + 0x1.ffp-12, 1},
    {"tf32 overflow", tf32, 0x1.ffffffp127, kInfinity},
    {"f32 ties to even", f32, 1 + 0x1p-24, 1},
    {"f32 above a tie", f32, 1 + 0x1.000001p-24, 1 + 0x1p-23},
    {"f32 overflow threshold", f32, 0x1.ffffffp127, kInfinity},
    {"f32 largest", f32, 0x1.fffffefffp127, 0x1.fffffep127},
    {"f32 smallest subnormal", f32, 0x1.8p-150, 0x1p-149},
    {"f64 as it is", f64, 0.1, 0.1},
    {"minus zero", f16, -0.0, -0.0},
    {"NaN", bf16, kNan, kNan},
    {"i8 truncates", i8, -1.9, -1},
    {"i8 wraps", i8, 300, 44},
    {"u8 wraps a negative value", u8, -1, 255},
    {"i16 wraps what fits i32", i16, 65537, 1},
    {"u32 saturates at 0", u32, -5, 0},
    {"u32 saturates above", u32, 1e10, 4294967295.0},
    {"i32 saturates", i32, -1e10, -2147483648.0},
    {"i64 beyond 2^53", i64, 0x1p60, 0x1p60},
    {"u64 above i64", u64, 0x1p63, 0x1p63},
    {"NaN to an integer", i32, kNan, 0},
    {"bool of a fraction", b8, 0.5, 1},
    {"bool of minus zero", b8, -0.0, 0},
};

TEST(Encode, RoundsSaturatesAndWrapsAtTheEdges) {
  for (const RoundingCase& c : kRoundings) {
    SCOPED_TRACE(c.name);
    EXPECT_TRUE(same(rounded(c.dtype, c.value), c.want)) << rounded(c.dtype, c.value);
  }
}

// f32 has hardware to compare with: conversions of random doubles must agree with it bit for bit.
TEST(Encode, RoundsF32AsTheProcessorDoes) {
  std::uint64_t bits = 0x9e3779b97f4a7c15;
  for (int i = 0; i < 200000; ++i) {
    bits = bits * 6364136223846793005 + 1442695040888963407;
    const double value = std::ldexp(std::bit_cast<double>((bits >> 12) | 0x3ff0000000000000),
                                    static_cast<int>(bits % 270) - 152);
    EXPECT_EQ(rounded(f32, value), static_cast<double>(static_cast<float>(value))) << value;
  }
}

struct HalfUlpCase {
  DType dtype;
  double magnitude, want;
};
constexpr HalfUlpCase kHalfUlps[] = {
    {f16, 1, 0x1p-11},   {f16, 1.999, 0x1p-11}, {f16, 2, 0x1p-10}, {f16, 0, 0x1p-25},
    {f16, 1e9, 16},      {bf16, 1, 0x1p-8},     {f32, 1, 0x1p-24}, {f8e4m3, 448, 16},
    {f8e5m2, 1, 0x1p-3}, {tf32, 1, 0x1p-11},    {f64, 1, 0},       {f8e4m3, 0x1p-9, 0x1p-10},
};

TEST(HalfUlp, IsHalfTheDistanceOfNeighbours) {
  for (const HalfUlpCase& c : kHalfUlps) {
    EXPECT_EQ(half_ulp(c.dtype, c.magnitude), c.want) << to_string(c.dtype) << ' ' << c.magnitude;
  }
}

}  // namespace
}  // namespace tilejit::reference
