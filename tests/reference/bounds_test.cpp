#include "reference/bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "arithmetic/cast.hpp"
#include "arithmetic/format.hpp"
#include "arithmetic/operations.hpp"
#include "reference/cast.hpp"
#include "reference/judge.hpp"

namespace tilejit::reference {
namespace {

using expr::Op;

struct Domain {
  Op op;
  double min, max;  // of the first operand
  double min2 = 1, max2 = 1;
};
constexpr Domain kDomains[] = {
    {Op::neg, -9, 9},
    {Op::add, -9, 9, -9, 9},
    {Op::sub, -9, 9, -9, 9},
    {Op::mul, -9, 9, -9, 9},
    {Op::div, -9, 9, -3, 3},
    {Op::floor_div, -9, 9, -3, 3},
    {Op::mod, -9, 9, 1, 3},
    {Op::pow, 0.01, 9, -3, 3},
    {Op::pow, -3, 3, 2, 2},
    {Op::min, -9, 9, -9, 9},
    {Op::max, -9, 9, -9, 9},
    {Op::abs, -9, 9},
    {Op::exp, -9, 9},
    {Op::exp, 80, 95},
    {Op::exp2, -9, 9},
    {Op::log, 0.01, 9},
    {Op::log2, 0.01, 9},
    {Op::sqrt, 0, 9},
    {Op::rsqrt, 0.01, 9},
    {Op::sin, -99, 99},
    {Op::cos, -99, 99},
    {Op::tan, -9, 9},
    {Op::tanh, -9, 9},
    {Op::erf, -9, 9},
    {Op::floor, -9, 9},
    {Op::ceil, -9, 9},
    {Op::round, -9, 9},
    {Op::sigmoid, -99, 99},
    {Op::silu, -99, 99},
    {Op::gelu, -9, 9},
    {Op::gelu_tanh, -9, 9},
    {Op::relu, -9, 9},
    {Op::clamp, -9, 9, -1, 0},
    {Op::asin, -1, 1},
    {Op::acos, -1, 1},
    {Op::atan, -9, 9},
    {Op::sinh, -9, 9},
    {Op::sinh, 85, 92},
    {Op::cosh, -2, 2},
    {Op::log10, 0.01, 9},
    {Op::log1p, -0.99, 9},
    {Op::expm1, -9, 9},
    {Op::cbrt, -9, 9},
    {Op::erfc, -3, 9},
    {Op::trunc, -9, 9},
    {Op::atan2, -9, 9, -9, 9},
    {Op::atan2, -0.1, 0.1, -0.1, 0.1},
    {Op::copysign, -9, 9, -1, 1},
    {Op::hypot, -9, 9, -9, 9},
    {Op::fma, -9, 9, -9, 9},
};

// The law: operands moved anywhere within their bounds give a result within its bound.
TEST(RealBound, HoldsForPerturbedOperands) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> unit(0, 1);
  const auto between = [&](double min, double max) { return min + (max - min) * unit(random); };
  for (const Domain& domain : kDomains) {
    SCOPED_TRACE(static_cast<int>(domain.op));
    for (int i = 0; i < 20000; ++i) {
      Approxes args{{{between(domain.min, domain.max), std::pow(10, between(-12, 0))},
                     {between(domain.min2, domain.max2), std::pow(10, between(-12, -1))},
                     {2, 0}}};
      if (domain.min2 == domain.max2) args[1].bound = 0;
      const Arithmetic& m = arithmetic(f32);
      Approx result{apply(domain.op, {args[0].value, args[1].value, args[2].value}), 0};
      result.bound = real_bound(domain.op, f32, result.value, args);
      result = in_range(m, result);
      if (std::isinf(result.bound)) continue;
      const double x = args[0].value + args[0].bound * between(-1, 1);
      const double y = args[1].value + args[1].bound * between(-1, 1);
      const double moved = in_range(m, apply(domain.op, {x, y, args[2].value}));
      ASSERT_LE(distance(moved, result.value), result.bound)
          << args[0].value << " +- " << args[0].bound << ", " << args[1].value << " +- "
          << args[1].bound << " moved to " << x << ", " << y;
    }
  }
}

struct BoundCase {
  const char* name;
  Op op;
  Approxes args;
  double min, max;  // the interval that the bound must be in
};
constexpr double kUnit = 0x1p-24;
constexpr BoundCase kBounds[] = {
    {"an exact sum", Op::add, {{{1}, {2}}}, 0, 0},
    {"an exact product", Op::mul, {{{3}, {-5}}}, 0, 0},
    {"an inexact sum rounds once", Op::add, {{{1}, {0x1p-30}}}, kUnit, 1.01 * kUnit},
    {"sums add bounds", Op::add, {{{1, 0.25}, {2, 0.5}}}, 0.75, 0.7501},
    {"products scale bounds", Op::mul, {{{2, 0.1}, {3, 0}}}, 0.3, 0.3001},
    {"a divisor around 0", Op::div, {{{1}, {0.1, 0.2}}}, kInfinity, kInfinity},
    {"division by exact 0", Op::div, {{{1}, {0}}}, 0, 0},
    {"log of an interval with 0", Op::log, {{{0.1, 0.2}}}, kInfinity, kInfinity},
    {"sqrt of what is below 0 for certain", Op::sqrt, {{{-1, 0.5}}}, 0, 0},
    {"sqrt of what may be below 0", Op::sqrt, {{{-0.1, 0.5}}}, kInfinity, kInfinity},
    {"floor away from a step", Op::floor, {{{1.5, 0.1}}}, 0, 0},
    {"floor at a step", Op::floor, {{{2, 0.1}}}, 1, 1},
    {"exact floor_div", Op::floor_div, {{{1}, {0.1f}}}, 0, 0},
    {"floor_div near a step", Op::floor_div, {{{6, 0.1}, {3}}}, 1, 1},
    {"floor_div beyond f32's whole numbers", Op::floor_div, {{{0x1p30}, {3}}}, 64, 200},
    {"mod near a step", Op::mod, {{{5.99999, 0.1}, {3}}}, 3, 3.2},
    {"exact mod", Op::mod, {{{7}, {3}}}, 0, 0},
    {"tan at a pole", Op::tan, {{{1.5707963, 1e-3}}}, kInfinity, kInfinity},
    {"sine of anything", Op::sin, {{{5, 100}}}, 2, 2.0001},
    {"min skips a certain NaN", Op::min, {{{kNan}, {1, 0.5}}}, 0.5, 0.5},
    {"relu of a negative interval", Op::relu, {{{-1, 0.5}}}, 0, 0},
    {"nothing known", Op::exp, {{{1, kInfinity}}}, kInfinity, kInfinity},
    {"infinity minus infinity", Op::sub, {{{kInfinity}, {kInfinity}}}, 0, 0},
    {"infinity times about 0", Op::mul, {{{kInfinity}, {0, 0.1}}}, kInfinity, kInfinity},
    {"infinity times a positive interval", Op::mul, {{{kInfinity}, {1, 0.1}}}, 0, 0},
    {"even power around 0", Op::pow, {{{0.1, 1}, {2}}}, 1.2, 1.3},
    {"fractional power around 0", Op::pow, {{{0.1, 1}, {0.5}}}, kInfinity, kInfinity},
    {"a fused product and sum rounds once",
     Op::fma,
     {{{1 + 0x1p-23}, {1 + 0x1p-23}, {-1}}},
     kUnit * 0x1p-22,
     1.01 * kUnit * 0x1p-21},
    {"an exact fused product and sum", Op::fma, {{{3}, {5}, {7}}}, 0, 0},
    {"fused beside infinity", Op::fma, {{{kInfinity}, {2}, {1, 0.1}}}, kInfinity, kInfinity},
    {"atan2 seen from afar", Op::atan2, {{{3, 0.3}, {4, 0.4}}}, 0.1, 0.1003},
    {"atan2 across the cut", Op::atan2, {{{0.1, 0.2}, {-5, 0}}}, 6.28, 6.2832},
    {"atan2 of an exact 0 on the cut", Op::atan2, {{{0}, {-5, 1}}}, 0.2, 0.202},
    {"atan2 about the origin", Op::atan2, {{{0.1, 0.2}, {0.1, 0.2}}}, 6.28, 6.2832},
    {"atan of infinity rounds", Op::atan, {{{kInfinity}}}, kUnit, 8 * kUnit},
    {"copysign of a certain sign", Op::copysign, {{{2, 0.5}, {-1, 0.5}}}, 0.5, 0.5},
    {"copysign of an uncertain sign", Op::copysign, {{{2, 0.5}, {0.1, 0.5}}}, 4.5, 4.5},
    {"copysign of a NaN's sign", Op::copysign, {{{2}, {kNan}}}, 4, 4},
    {"hypot adds bounds", Op::hypot, {{{3, 0.25}, {4, 0.5}}}, 0.75, 0.7501},
    {"hypot of infinity and NaN", Op::hypot, {{{kInfinity}, {kNan}}}, 0, 0},
    {"asin at its end", Op::asin, {{{1, 0.1}}}, kInfinity, kInfinity},
    {"cosh around 0", Op::cosh, {{{0, 1}}}, 0.543, 0.5432},
    {"trunc around 0", Op::trunc, {{{0, 0.9}}}, 0, 0},
    {"trunc at a step", Op::trunc, {{{-2, 0.1}}}, 1, 1},
    {"inverse around 0", Op::pow, {{{0.1, 1}, {-1}}}, kInfinity, kInfinity},
};

TEST(RealBound, IsSharpWhereItMatters) {
  for (const BoundCase& c : kBounds) {
    SCOPED_TRACE(c.name);
    const double result = apply(c.op, {c.args[0].value, c.args[1].value, c.args[2].value});
    const double bound = real_bound(c.op, f32, result, c.args);
    EXPECT_TRUE(bound >= c.min && bound <= c.max) << bound;
  }
}

// math::fast_exp at its worst: its ex2 is within 2^-22 of the result.
double fast_exp(double x, double error) {
  const float t = static_cast<float>(x) * 1.44269504f;
  return std::exp2(static_cast<double>(t)) * (1 + error);
}

TEST(RealBound, CoversTheApproximationsOfNarrowFloats) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> unit(-85, 85);
  double worst = 0;
  for (int i = 0; i < 20000; ++i) {
    const double x = static_cast<float>(unit(random)), result = std::exp(x);
    const double bound = real_bound(Op::exp, bf16, result, {{{x}}});
    for (const double error : {-0x1p-22, 0x1p-22}) {
      ASSERT_LE(std::fabs(fast_exp(x, error) - result), bound) << x;
      worst = std::max(worst, std::fabs(fast_exp(x, error) - result) / bound);
    }
    EXPECT_LT(bound - 0x1p-126, 0x1p-16 * result) << "below the rounding of any narrow float";
    EXPECT_LT(real_bound(Op::exp, f32, result, {{{x}}}), 0x1p-21 * result);
  }
  EXPECT_GT(worst, 0.4) << "the bound is not wider than it has to be";
  EXPECT_EQ(real_bound(Op::div, f32, 3, {{{6}, {2}}}), 0);
  EXPECT_GE(real_bound(Op::div, f16, 3, {{{6}, {2}}}), 3 * 0x1p-22);
  EXPECT_LE(real_bound(Op::div, f16, 3, {{{6}, {2}}}), 3 * 0x1p-21);
  EXPECT_GE(real_bound(Op::exp, f16, 0, {{{-90}}}), 0x1p-126) << "subnormal numbers are flushed";
}

TEST(InRange, TellsCertainFromPossibleOverflow) {
  const Arithmetic& m = arithmetic(f32);
  EXPECT_EQ(in_range(m, Approx{1e39, 1e30}).value, kInfinity);
  EXPECT_EQ(in_range(m, Approx{1e39, 1e30}).bound, 0);
  EXPECT_EQ(in_range(m, Approx{3.4e38, 1e37}).bound, kInfinity);
  EXPECT_EQ(in_range(m, Approx{-3.5e38, 1e38}).bound, kInfinity);
  EXPECT_EQ(in_range(m, Approx{3e38, 1e30}).bound, 1e30);
  EXPECT_EQ(in_range(m, Approx{1, kNan}).bound, kInfinity);
  EXPECT_EQ(in_range(arithmetic(f64), Approx{1e39, 1}).value, 1e39);
}

TEST(ConstantBound, IsZeroForNumbersOfTheType) {
  EXPECT_EQ(constant_bound(f32, 0.5), 0);
  EXPECT_GE(constant_bound(f16, 0.1), std::fabs(0.1 - static_cast<double>(0.1f)));
  EXPECT_EQ(constant_bound(f64, 0.1), 0);
}

struct IntegerBoundCase {
  Op op;
  DType type;
  double result;
  Approxes args;
  double want;
};
constexpr IntegerBoundCase kIntegerBounds[] = {
    {Op::add, i32, 3, {{{1}, {2}}}, 0},
    {Op::add, i32, 3, {{{1, 1}, {2, 2}}}, 3},
    {Op::add, i8, 127, {{{126, 1}, {1}}}, kInfinity},  // may wrap
    {Op::mul, i32, 6, {{{2, 1}, {3}}}, 3},
    {Op::floor_div, i32, 2, {{{20, 1}, {10}}}, 1},
    {Op::floor_div, i32, 2, {{{20}, {10, 1}}}, kInfinity},
    {Op::shl, i32, 4, {{{2, 1}, {1}}}, kInfinity},
    {Op::min, i32, 2, {{{2, 1}, {9}}}, 1},
    {Op::logical_and, b8, 0, {{{1, 1}, {0}}}, 0},
    {Op::logical_and, b8, 1, {{{1, 1}, {1}}}, 1},
    {Op::logical_or, b8, 1, {{{0, 1}, {1}}}, 0},
    {Op::logical_or, b8, 0, {{{0, 1}, {0}}}, 1},
    {Op::logical_not, b8, 0, {{{1, 1}}}, 1},
};

TEST(IntegerBound, KnowsRangesAndDecidedLogic) {
  for (const IntegerBoundCase& c : kIntegerBounds) {
    const double got = integer_bound(c.op, c.type, c.result, c.args);
    if (std::isinf(c.want)) {
      EXPECT_EQ(got, c.want) << static_cast<int>(c.op);
    } else {
      EXPECT_NEAR(got, c.want, 1e-9) << static_cast<int>(c.op);
    }
  }
}

TEST(ComparisonBound, IsUncertainWithinTheBounds) {
  EXPECT_EQ(comparison_bound({1}, {1}), 0);
  EXPECT_EQ(comparison_bound({1, 0.1}, {1.2, 0.05}), 0);
  EXPECT_EQ(comparison_bound({1, 0.1}, {1.2, 0.11}), 1);
  EXPECT_EQ(comparison_bound({kNan}, {1, 0.1}), 0);
  EXPECT_EQ(comparison_bound({kInfinity, kInfinity}, {1}), 1);
}

TEST(WhereBound, ReachesTheOtherBranch) {
  EXPECT_EQ(where_bound(0, {1, 0.5}, {9, 0}), 0.5);
  EXPECT_EQ(where_bound(1, {1, 0.5}, {9, 0.25}), 8.25);
  EXPECT_EQ(where_bound(1, {1, 0.5}, {kNan, 0}), kInfinity);
  EXPECT_EQ(where_bound(1, {kNan, 0}, {kNan, 0}), 0);
}

struct CastCase {
  DType from, to;
  Approx x;
  double result, want;
};
constexpr CastCase kCasts[] = {
    {f32, f16, {1, 0}, 1, 0},
    {f32, f16, {1 + 0x1p-11, 0x1p-20}, 1, 0x1p-10},  // about a tie
    {f32, f16, {1.1, 1e-7}, 1.099609375, 0},
    {f32, f16, {65519, 10}, 65504, kInfinity},
    {f32, f8e4m3, {1000, 10}, 448, 0},
    {f32, f64, {1, 0.5}, 1, 0.5},
    {f64, f32, {1, 0}, 1, 0},
    {i64, f64, {0x1p52, 0}, 0x1p52, 0},
    {i32, f16, {2049, 0}, 2048, 0},
    {i64, bf16, {0x1p60 + 0x1p52, 0}, 0x1p60, 0},  // about a tie, but exact
    {i64, bf16, {0x1p60 + 0x1p52, 1}, 0x1p60, 0x1p53},
    {i32, f32, {16777217, 0}, 16777216, 0},  // both sides round the same way
    {i32, f32, {16777217, 1}, 16777216, 2},
    {f32, i32, {2.5, 0.1}, 2, 0},
    {f32, i32, {3, 0.1}, 3, 1},
    {f32, i32, {1e12, 1}, 2147483647, 0},
    {f32, i8, {127, 1}, 127, kInfinity},
    {f32, b8, {0.1, 0.2}, 1, 1},
    {f32, b8, {0.3, 0.2}, 1, 0},
    {i32, i8, {300, 1}, 44, 1},
    {i32, i8, {127, 1}, 127, kInfinity},
    {i32, i64, {5, kInfinity}, 5, kInfinity},
};

TEST(CastBound, FollowsTheEndsOfTheInterval) {
  for (const CastCase& c : kCasts) {
    EXPECT_EQ(cast_bound(c.from, c.to, c.x, c.result), c.want)
        << to_string(c.from) << " to " << to_string(c.to) << " of " << c.x.value;
  }
}

struct JudgeCase {
  const char* name;
  DType dtype;
  double got;
  Approx want;
  bool passes;
};
constexpr JudgeCase kJudgements[] = {
    {"f32 within", f32, 1 + 0x1p-23, {1, 0x1p-23}, true},
    {"f32 beyond", f32, 1 + 0x1p-22, {1, 0x1p-23}, false},
    {"f32 copies are exact", f32, 1 + 0x1p-23, {1, 0}, false},
    {"f16 store rounds", f16, 1, {1 + 0x1p-12, 0}, true},
    {"f16 off by an ulp", f16, 1 + 0x1p-10, {1, 0}, false},
    {"minus zero", f32, -0.0, {0, 0}, true},
    {"NaN wanted", f32, kNan, {kNan, 0}, true},
    {"NaN wanted, number got", f32, 1, {kNan, 0}, false},
    {"NaN got", f32, kNan, {1, 100}, false},
    {"nothing known", f32, kNan, {1, kInfinity}, true},
    {"infinity", f32, kInfinity, {kInfinity, 0}, true},
    {"the other infinity", f32, -kInfinity, {kInfinity, 0}, false},
    {"infinity wanted", f32, 0x1.fffffep127, {kInfinity, 0}, false},
    {"infinity got", f32, kInfinity, {1, 0.5}, false},
    {"f16 must overflow", f16, 65504, {65536, 1}, false},
    {"f16 overflows", f16, kInfinity, {65536, 1}, true},
    {"f16 may overflow", f16, kInfinity, {65519, 1}, true},
    {"f16 may stay finite", f16, 65504, {65520, 1}, true},
    {"f16 overflows too early", f16, kInfinity, {65505, 1}, false},
    {"f8e4m3 saturates", f8e4m3, 448, {1e9, 1}, true},
    {"f8e4m3 saturates infinity", f8e4m3, -448, {-kInfinity, 0}, true},
    {"f8e4m3 NaN instead of saturation", f8e4m3, kNan, {1e9, 1}, false},
    {"f8e5m2 infinity instead of saturation", f8e5m2, kInfinity, {1e9, 1}, false},
    {"f8e4m3 keeps NaN", f8e4m3, kNan, {kNan, 0}, true},
    {"f64 is not rounded", f64, 1 + 0x1p-52, {1, 0}, false},
};

TEST(JudgeReal, PassesAndFailsAsTheFormatRounds) {
  for (const JudgeCase& c : kJudgements) {
    SCOPED_TRACE(c.name);
    const Judgement judgement = judge_real(c.dtype, c.got, c.want);
    EXPECT_EQ(judgement.passed, c.passes);
    EXPECT_EQ(judgement.ratio() <= 1, c.passes) << judgement.ratio();
  }
}

TEST(JudgeInteger, NeedsEqualityUnlessUncertain) {
  EXPECT_TRUE(judge_integer(i32, 3, 3, 0).passed);
  EXPECT_FALSE(judge_integer(i32, 3, 4, 0).passed);
  EXPECT_TRUE(judge_integer(i32, 3, 4, 1).passed);
  EXPECT_FALSE(judge_integer(i32, 2, 4, 1).passed);
  EXPECT_FALSE(judge_integer(i64, (1LL << 60) + 1, 1LL << 60, 0).passed);
  EXPECT_EQ(judge_integer(u64, -1, 0, 0).error, 0x1p64);
}

}  // namespace
}  // namespace tilejit::reference
