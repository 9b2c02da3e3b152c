#include "arithmetic/operations.hpp"
#include "expr/real_function.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "arithmetic/cast.hpp"
#include "arithmetic/convert.hpp"
#include "arithmetic/format.hpp"
#include "reference/cast.hpp"

namespace tilejit::reference {
namespace {

using expr::Op;

struct RealCase {
  Op op;
  Reals args;
  double want;
};
constexpr RealCase kReals[] = {
    {Op::neg, {2}, -2},
    {Op::add, {1, 2}, 3},
    {Op::sub, {1, 2}, -1},
    {Op::mul, {3, -2}, -6},
    {Op::div, {1, 4}, 0.25},
    {Op::div, {1, 0}, kInfinity},
    {Op::floor_div, {7, 2}, 3},
    {Op::floor_div, {-7, 2}, -4},
    {Op::floor_div, {7, -2}, -4},
    {Op::floor_div, {1, 0.1}, 9},  // 0.1 is above a tenth, though 1 / 0.1 rounds to 10
    {Op::floor_div, {10143929995362304.0, 3}, 3381309998454101.0},  // a - 1 rounds to a: a tie
    {Op::floor_div, {0.5, 2}, 0},
    {Op::floor_div, {0.0, -2}, -0.0},
    {Op::floor_div, {-1, kInfinity}, -1},
    {Op::floor_div, {kInfinity, 2}, kNan},
    {Op::floor_div, {1, 0}, kInfinity},
    {Op::mod, {7, 3}, 1},
    {Op::mod, {-7, 3}, 2},
    {Op::mod, {7, -3}, -2},
    {Op::mod, {-7, -3}, -1},
    {Op::mod, {6, 3}, 0},
    {Op::mod, {-6, 3}, 0},  // not -0, which atan2 tells apart
    {Op::mod, {6, -3}, -0.0},
    {Op::mod, {5.5, 2}, 1.5},
    {Op::mod, {1, 0}, kNan},
    {Op::pow, {2, 10}, 1024},
    {Op::pow, {-2, 3}, -8},
    {Op::pow, {-2, 0.5}, kNan},
    {Op::pow, {0, 0}, 1},
    {Op::min, {1, 2}, 1},
    {Op::min, {kNan, 2}, 2},
    {Op::min, {kNan, kNan}, kNan},
    {Op::max, {1, 2}, 2},
    {Op::max, {1, kNan}, 1},
    {Op::abs, {-3}, 3},
    {Op::exp, {0}, 1},
    {Op::exp, {-kInfinity}, 0},
    {Op::exp2, {-3}, 0.125},
    {Op::log, {1}, 0},
    {Op::log, {0}, -kInfinity},
    {Op::log, {-1}, kNan},
    {Op::log2, {8}, 3},
    {Op::sqrt, {9}, 3},
    {Op::sqrt, {-1}, kNan},
    {Op::rsqrt, {4}, 0.5},
    {Op::rsqrt, {0}, kInfinity},
    {Op::sin, {0}, 0},
    {Op::cos, {0}, 1},
    {Op::tan, {0.78539816339744831}, 1},
    {Op::tanh, {1}, 0.76159415595576489},
    {Op::erf, {0.5}, 0.52049987781304654},
    {Op::asin, {0.5}, 0.52359877559829887},
    {Op::asin, {1.5}, kNan},
    {Op::acos, {0.5}, 1.0471975511965979},
    {Op::atan, {1}, 0.78539816339744831},
    {Op::atan, {-kInfinity}, -1.5707963267948966},
    {Op::atan2, {1, -1}, 2.3561944901923449},
    {Op::atan2, {-0.0, -1}, -3.1415926535897931},
    {Op::atan2, {0, 0}, 0},
    {Op::sinh, {1}, 1.1752011936438014},
    {Op::cosh, {1}, 1.5430806348152437},
    {Op::log10, {1000}, 3},
    {Op::log1p, {1e-20}, 1e-20},
    {Op::log1p, {-1}, -kInfinity},
    {Op::expm1, {1e-20}, 1e-20},
    {Op::expm1, {-kInfinity}, -1},
    {Op::cbrt, {-27}, -3},
    {Op::erfc, {0.5}, 0.47950012218695346},
    {Op::erfc, {10}, 2.0884875837625446e-45},
    {Op::copysign, {3, -0.0}, -3},
    {Op::copysign, {-3, 2}, 3},
    {Op::hypot, {3, -4}, 5},
    {Op::hypot, {1e200, 1e200}, 1.4142135623730951e200},
    {Op::hypot, {kNan, -kInfinity}, kInfinity},
    {Op::fma, {0x1.0000001p0, 0x1.0000001p0, -1}, 0x1.00000008p-27},
    {Op::trunc, {-1.5}, -1},
    {Op::trunc, {2.5}, 2},
    {Op::floor, {-1.5}, -2},
    {Op::ceil, {-1.5}, -1},
    {Op::round, {0.5}, 0},
    {Op::round, {1.5}, 2},
    {Op::round, {2.5}, 2},
    {Op::round, {-2.5}, -2},
    {Op::round, {2.51}, 3},
    {Op::round, {-kInfinity}, -kInfinity},
    {Op::sigmoid, {0}, 0.5},
    {Op::sigmoid, {2}, 0.88079707797788244},
    {Op::sigmoid, {-kInfinity}, 0},
    {Op::silu, {2}, 1.7615941559557649},
    {Op::silu, {-20}, -4.122307236380407e-08},
    {Op::gelu, {1}, 0.84134474606854293},
    {Op::gelu, {-1}, -0.15865525393145705},
    {Op::gelu, {-10}, -7.619853024160526e-23},
    {Op::gelu_tanh, {1}, 0.84119199060827670},
    {Op::gelu_tanh, {-2}, -0.04540230591222498},
    {Op::relu, {-1}, 0},
    {Op::relu, {2}, 2},
    {Op::relu, {kNan}, kNan},
    {Op::clamp, {5, 0, 1}, 1},
    {Op::clamp, {-5, 0, 1}, 0},
    {Op::clamp, {0.5, 0, 1}, 0.5},
    {Op::clamp, {kNan, 0, 1}, kNan},
    {Op::clamp, {0, 2, 1}, 1},
};

TEST(RealOperation, MatchesKnownValues) {
  for (const RealCase& c : kReals) {
    const double got = apply(c.op, c.args);
    // The rounding error of erfc's argument is magnified by the argument squared far from 0.
    const double tolerance = 1e-14 * std::fabs(c.want);
    const bool is_near = std::fabs(got - c.want) <= tolerance &&
                         (c.want != 0 || std::signbit(got) == std::signbit(c.want));
    const bool is_same = std::isfinite(c.want) ? is_near
                         : std::isnan(c.want)  ? std::isnan(got)
                                               : got == c.want;
    EXPECT_TRUE(is_same) << "op " << static_cast<int>(c.op) << " of " << c.args[0] << ", "
                         << c.args[1] << ": " << got << ", want " << c.want;
  }
}

constexpr std::int64_t kMin64 = std::numeric_limits<std::int64_t>::min();

struct IntegerCase {
  Op op;
  DType type;
  Integers args;
  std::int64_t want;
};
constexpr IntegerCase kIntegers[] = {
    {Op::neg, i8, {-128}, -128},
    {Op::neg, u8, {1}, 255},
    {Op::bit_not, i32, {0}, -1},
    {Op::bit_not, u16, {0}, 65535},
    {Op::bit_not, b8, {1}, 0},
    {Op::bit_not, b8, {0}, 1},
    {Op::logical_not, b8, {0}, 1},
    {Op::add, i8, {127, 1}, -128},
    {Op::add, u64, {-1, 1}, 0},
    {Op::add, i64, {std::numeric_limits<std::int64_t>::max(), 1}, kMin64},
    {Op::sub, u8, {0, 1}, 255},
    {Op::mul, i16, {300, 300}, 24464},
    {Op::mul, i64, {kMin64, -1}, kMin64},
    {Op::floor_div, i32, {7, 2}, 3},
    {Op::floor_div, i32, {-7, 2}, -4},
    {Op::floor_div, i32, {7, -2}, -4},
    {Op::floor_div, i32, {-6, 2}, -3},
    {Op::floor_div, i32, {5, 0}, 0},
    {Op::floor_div, i32, {-2147483648LL, -1}, -2147483648LL},
    {Op::floor_div, i64, {kMin64, -1}, kMin64},
    {Op::floor_div, u64, {-1, 2}, std::numeric_limits<std::int64_t>::max()},
    {Op::mod, i32, {-7, 3}, 2},
    {Op::mod, i32, {7, -3}, -2},
    {Op::mod, i32, {6, -3}, 0},
    {Op::mod, i32, {5, 0}, 0},
    {Op::mod, i64, {kMin64, -1}, 0},
    {Op::mod, u64, {-1, 10}, 5},
    {Op::pow, i32, {3, 4}, 81},
    {Op::pow, i32, {2, 31}, -2147483648LL},
    {Op::pow, i32, {0, 0}, 1},
    {Op::pow, i32, {2, -1}, 0},
    {Op::pow, i32, {1, -5}, 1},
    {Op::pow, i32, {-1, -5}, -1},
    {Op::pow, i32, {-1, -4}, 1},
    {Op::pow, i32, {0, -1}, 0},
    {Op::pow, u8, {3, 200}, 161},
    {Op::shl, i32, {1, 31}, -2147483648LL},
    {Op::shl, i32, {1, 32}, 0},
    {Op::shl, i32, {1, -1}, 0},
    {Op::shl, u8, {0x81, 1}, 2},
    {Op::shr, i32, {-8, 1}, -4},
    {Op::shr, i32, {-8, 32}, -1},
    {Op::shr, i32, {8, 32}, 0},
    {Op::shr, i32, {-8, -1}, -1},
    {Op::shr, u64, {-1, 63}, 1},
    {Op::shr, u64, {-1, 64}, 0},
    {Op::bit_and, u8, {0xf0, 0x3c}, 0x30},
    {Op::bit_or, u8, {0xf0, 0x0f}, 0xff},
    {Op::bit_xor, i8, {-1, 1}, -2},
    {Op::logical_and, b8, {1, 0}, 0},
    {Op::logical_or, b8, {1, 0}, 1},
    {Op::min, i32, {-1, 1}, -1},
    {Op::min, u64, {-1, 1}, 1},
    {Op::max, u64, {-1, 1}, -1},
    {Op::abs, i8, {-128}, -128},
    {Op::abs, i32, {-5}, 5},
    {Op::abs, u64, {-5}, -5},
    {Op::relu, i32, {-5}, 0},
    {Op::relu, u64, {-5}, -5},
    {Op::clamp, i32, {5, 0, 3}, 3},
    {Op::clamp, i32, {-5, 0, 3}, 0},
    {Op::clamp, i32, {1, 3, 2}, 2},
};

TEST(IntegerOperation, MatchesKnownValues) {
  for (const IntegerCase& c : kIntegers) {
    EXPECT_EQ(apply(c.op, c.type, c.args), c.want)
        << "op " << static_cast<int>(c.op) << " on " << to_string(c.type) << ' ' << c.args[0]
        << ", " << c.args[1];
  }
}

// Every pair of 8-bit operands against arithmetic that cannot wrap.
TEST(IntegerOperation, DividesAllPairsOfI8ToMinusInfinity) {
  for (int a = -128; a < 128; ++a) {
    for (int b = -128; b < 128; ++b) {
      if (b == 0) continue;
      const int quotient = static_cast<int>(std::floor(static_cast<double>(a) / b));
      const int wrapped = static_cast<std::int8_t>(quotient);
      EXPECT_EQ(apply(Op::floor_div, i8, {a, b}), wrapped) << a << " // " << b;
      EXPECT_EQ(apply(Op::mod, i8, {a, b}), a - quotient * b) << a << " % " << b;
    }
  }
}

struct ComparisonCase {
  Op op;
  double a, b;
  bool want;
};
constexpr ComparisonCase kComparisons[] = {
    {Op::lt, 1, 2, true},      {Op::lt, 2, 2, false},       {Op::le, 2, 2, true},
    {Op::eq, 0.0, -0.0, true}, {Op::eq, kNan, kNan, false}, {Op::ne, kNan, kNan, true},
    {Op::ge, 2, 3, false},     {Op::gt, 3, 2, true},        {Op::ge, kNan, 1, false},
};

TEST(Comparison, OfRealsFollowsIeee) {
  for (const ComparisonCase& c : kComparisons) {
    EXPECT_EQ(expr::compare(c.op, c.a, c.b), c.want)
        << static_cast<int>(c.op) << ' ' << c.a << ' ' << c.b;
  }
}

TEST(Comparison, OfU64IsUnsigned) {
  EXPECT_TRUE(compare(Op::gt, u64, -1, 1));
  EXPECT_TRUE(compare(Op::le, u64, 1, -1));
  EXPECT_FALSE(compare(Op::gt, i64, -1, 1));
  EXPECT_TRUE(compare(Op::ge, i64, 1, -1));
  EXPECT_TRUE(compare(Op::lt, i64, -1, 1));
  EXPECT_TRUE(compare(Op::eq, i64, 3, 3));
  EXPECT_FALSE(compare(Op::ne, i64, 3, 3));
}

TEST(Cast, RoundsToNarrowTypesOnly) {
  EXPECT_EQ(cast_real(f32, f16, 1 + 0x1p-12), 1);
  EXPECT_EQ(cast_real(f16, f32, 1 + 0x1p-12), 1 + 0x1p-12);  // f16 computes in f32
  EXPECT_EQ(cast_real(f16, bf16, 1 + 0x1p-10), 1);
  EXPECT_EQ(cast_real(f64, f32, 1 + 0x1p-30), 1);
  EXPECT_EQ(cast_real(f32, f64, 1 + 0x1p-30), 1 + 0x1p-30);
  EXPECT_EQ(cast_real(f32, f8e4m3, kInfinity), 448);
}

TEST(Cast, BetweenIntegersWraps) {
  EXPECT_EQ(integer_to_integer(300, i8), 44);
  EXPECT_EQ(integer_to_integer(-1, u64), -1);
  EXPECT_EQ(integer_to_real(-1, u64), 0x1p64);
  EXPECT_EQ(integer_to_integer(256, b8), 1);
}

}  // namespace
}  // namespace tilejit::reference
