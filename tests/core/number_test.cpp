#include "tilejit/number.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace tilejit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kMostU64 = std::numeric_limits<std::uint64_t>::max();

struct TextCase {
  Number number;
  const char* text;
  double real;
};
const TextCase kTexts[] = {
    {0, "0", 0},
    {true, "1", 1},
    {9007199254740993, "9007199254740993", 0x1p53},
    {std::numeric_limits<std::int64_t>::min(), "-9223372036854775808", -0x1p63},
    {kMostU64, "18446744073709551615", 0x1p64},
    {9223372036854775807u, "9223372036854775807", 0x1p63},
    {3.0, "3.0", 3},
    {0.1, "0.1", 0.1},
    {-1e300, "-1e+300", -1e300},
    {-kInfinity, "-inf", -kInfinity},
};

TEST(Number, KeepsIntegersAndPrints) {
  for (const TextCase& c : kTexts) {
    EXPECT_EQ(to_string(c.number), c.text);
    EXPECT_EQ(c.number.to<double>(), c.real) << c.text;
  }
  EXPECT_EQ(Number(kMostU64).bits(), -1);
  EXPECT_TRUE(Number(kMostU64).exceeds_i64());
  EXPECT_EQ(Number(5u), Number(5)) << "the type does not matter, the value does";
  EXPECT_NE(Number(3), Number(3.0));
  EXPECT_NE(Number(9007199254740993), Number(9007199254740992));
}

// This was 2^53 when it was converted to a double first.
TEST(Number, IsRoundedOnce) {
  EXPECT_EQ(Number((std::int64_t{1} << 53) + (1 << 29) + 1).to<float>(), 0x1p53f + 0x1p30f);
  EXPECT_EQ(Number((std::uint64_t{1} << 63) + (std::uint64_t{1} << 39) + 1).to<float>(),
            0x1p63f + 0x1p40f);
}

struct FitCase {
  DType dtype;
  Number number;
  bool fits;
};
const FitCase kFits[] = {
    {b8, 1, true},         {b8, 2, false},       {i8, -128, true},   {i8, 128, false},
    {u16, 65535, true},    {u16, -1, false},     {i64, -1, true},    {i64, kMostU64, false},
    {u64, kMostU64, true}, {u64, -1, false},     {i32, 1.0, false},  {f32, kMostU64, true},
    {f32, 1e300, false},   {f32, -1e300, false}, {f64, 1e300, true}, {f16, kInfinity, true},
    {f16, 1e38, true},
};

TEST(Number, FitsWhatTheDtypeTakes) {
  for (const FitCase& c : kFits) {
    EXPECT_EQ(fits(c.dtype, c.number), c.fits) << to_string(c.dtype) << ' ' << to_string(c.number);
  }
}

}  // namespace
}  // namespace tilejit
