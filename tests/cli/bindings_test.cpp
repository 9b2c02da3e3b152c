#include "kernels/bindings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "common/command.hpp"
#include "kernels/problem.hpp"
#include "tilejit/reference.hpp"

namespace tilejit::cli {
namespace {

using ::testing::HasSubstr;

Fused symbolic() {
  return {.name = "k",
          .symbols = {{.name = "M", .divisible_by = 1, .example = 3},
                      {.name = "N", .divisible_by = 8, .example = {}}},
          .tensors = {{.name = "x", .dtype = f32, .layout = "(M,4*N):(4*N,1)"},
                      {.name = "y", .dtype = f32, .layout = "(M,4*N):(4*N,1)"}},
          .formula = "y = x"};
}

Arrays array_of(const std::string& tensor, std::vector<std::int64_t> shape) {
  return {{tensor, {.header = {"<f4", false, std::move(shape)}, .data = {}}}};
}

struct BindCase {
  const char* name;
  Assignments dims;
  Arrays arrays;
  SymbolValues want;
};

TEST(BindSymbols, TakesDimsThenArraysThenExamples) {
  const BindCase cases[] = {
      {"example of the spec", {{"N", "16"}}, {}, {{"M", 3}, {"N", 16}}},
      {"dims before the example", {{"M", "5"}, {"N", "0"}}, {}, {{"M", 5}, {"N", 0}}},
      {"from an array", {}, array_of("x", {7, 96}), {{"M", 7}, {"N", 24}}},
      {"dims before the array", {{"M", "5"}}, array_of("x", {7, 96}), {{"M", 5}, {"N", 24}}},
  };
  for (const BindCase& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(bind_symbols(symbolic(), c.dims, c.arrays), c.want);
  }
}

TEST(BindSymbols, SolvesProductsOnceTheOtherSymbolIsKnown) {
  const Fused op{.name = "k",
                 .tensors = {{.name = "a", .dtype = f32, .layout = "(M*N):(1)"},
                             {.name = "b", .dtype = f32, .layout = "(N):(1)"}},
                 .formula = "b = a"};
  Arrays arrays = array_of("a", {12});
  arrays.merge(array_of("b", {4}));
  EXPECT_EQ(bind_symbols(op, {}, arrays), (SymbolValues{{"M", 3}, {"N", 4}}));
}

struct RejectCase {
  const char* name;
  Assignments dims;
  const char* message;
};

TEST(BindSymbols, RefusesMissingAndBrokenValues) {
  const RejectCase cases[] = {
      {"no value", {}, "symbol N of kernel k has no value; pass --dims N="},
      {"divisor", {{"N", "12"}}, "N is 12, but the spec promises a multiple of 8"},
      {"negative", {{"N", "-8"}}, "--dims N is '-8'"},
      {"not a number", {{"N", "8x"}}, "--dims N is '8x'"},
      {"beyond 63 bits", {{"N", "9223372036854775808"}}, "--dims N is '9223372036854775808'"},
  };
  for (const RejectCase& c : cases) {
    SCOPED_TRACE(c.name);
    try {
      (void)bind_symbols(symbolic(), c.dims, {});
      ADD_FAILURE() << "accepted";
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr(c.message));
    }
  }
}

// The symbol was reported as having no value.
TEST(BindSymbols, SaysWhichExtentIsNoMultiple) {
  try {
    (void)bind_symbols(symbolic(), {}, array_of("x", {3, 5}));
    ADD_FAILURE() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "the array of x has extent 5 in mode 1, which is not a multiple of 4 as 4*N must "
                 "be");
  }
}

TEST(ParseAssignments, SplitsAtTheFirstEquals) {
  EXPECT_EQ(parse_assignments({"x=a=b.npy", "y=/tmp/y"}, "--in"),
            (Assignments{{"x", "a=b.npy"}, {"y", "/tmp/y"}}));
  for (const char* wrong : {"x", "=y", "x=", ""}) {
    EXPECT_THROW((void)parse_assignments({wrong}, "--in"), UsageError) << wrong;
  }
  EXPECT_THROW((void)parse_assignments({"x=1", "x=2"}, "--in"), UsageError);
}

Argument bind_scalar(DType dtype, const std::string& text) {
  Fused op = symbolic();
  op.scalars = {{.name = "s", .dtype = dtype, .example = {}}};
  return bind_scalars(op, {{"s", text}}).at(0);
}

void expect_same(const Argument& got, const Argument& want) {
  EXPECT_EQ(got.kind, want.kind);
  EXPECT_EQ(got.integer, want.integer);
  EXPECT_THAT(got.floating, ::testing::NanSensitiveDoubleEq(want.floating));
}

struct ScalarCase {
  DType dtype;
  const char* text;
  Argument want;
};

TEST(BindScalars, TakesWhatTheDtypeHolds) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const ScalarCase cases[] = {
      {b8, "0", 0},
      {b8, "1", 1},
      {i8, "-128", -128},
      {i8, "127", 127},
      {u8, "255", 255},
      {i32, "-7", -7},
      {u32, "4294967295", 4294967295},
      {i64, "-9223372036854775808", std::numeric_limits<std::int64_t>::min()},
      {i64, "9007199254740993", 9007199254740993},
      {u64, "9223372036854775807", 9223372036854775807u},
      {u64, "18446744073709551615", 18446744073709551615u},
      {f32, "0.1", 0.1F},
      {f16, "65504", 65504.0},
      {f16, "65519", 65504.0},
      {f32, "3.4028235e38", std::numeric_limits<float>::max()},
      {f16, "1e-30", 0.0},
      {f16, "-inf", -kInfinity},
      {tf32, "inf", kInfinity},
      {f64, "nan", std::numeric_limits<double>::quiet_NaN()},
      {f8e4m3, "nan", std::numeric_limits<double>::quiet_NaN()},
      {f8e4m3, "-448", -448.0},
  };
  for (const ScalarCase& c : cases) {
    SCOPED_TRACE(std::string(to_string(c.dtype)) + " " + c.text);
    expect_same(bind_scalar(c.dtype, c.text), c.want);
  }
}

struct WrongScalarCase {
  DType dtype;
  const char* text;
  const char* message;
};

// Once encoded and decoded, i8 300 came out as 44, i32 nan as 0, f16 1e9 as infinity.
TEST(BindScalars, RefusesWhatTheDtypeWouldChange) {
  const WrongScalarCase cases[] = {
      {b8, "7", "bool takes a whole number from 0 to 1"},
      {i8, "300", "--scalars s is '300'; i8 takes a whole number from -128 to 127"},
      {i8, "-129", "from -128 to 127"},
      {u8, "-1", "from 0 to 255"},
      {i32, "1.5", "from -2147483648 to 2147483647"},
      {i32, "nan", "i32 takes a whole number"},
      {i64, "1e30", "from -9223372036854775808 to 9223372036854775807"},
      {i64, "9223372036854775808", "i64 takes a whole number"},
      {u64, "18446744073709551616", "from 0 to 18446744073709551615"},
      {i32, "7x", "i32 takes a whole number"},
      {f32, "half", "--scalars s is 'half', which is not a number"},
      {f32, "1.5x", "which is not a number"},
      {f16, "1e9", "--scalars s is '1e9', which is beyond the range of f16"},
      {bf16, "-1e39", "beyond the range of bf16"},
      {f32, "1e39", "beyond the range of f32"},
      {f64, "1e400", "beyond the range of f64"},
      {f8e4m3, "500", "beyond the range of f8e4m3"},
      {f8e5m2, "inf", "beyond the range of f8e5m2"},
  };
  for (const WrongScalarCase& c : cases) {
    SCOPED_TRACE(std::string(to_string(c.dtype)) + " " + c.text);
    try {
      (void)bind_scalar(c.dtype, c.text);
      ADD_FAILURE() << "accepted";
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr(c.message));
    }
  }
}

TEST(BindScalars, ElseTheExampleElseOne) {
  Fused op = symbolic();
  op.scalars = {{.name = "a", .dtype = f32, .example = 0.1},
                {.name = "m", .dtype = u64, .example = 1e19},
                {.name = "n", .dtype = i32, .example = {}},
                {.name = "k", .dtype = i64, .example = 9007199254740993}};  // used to be rounded
  const std::vector<Argument> values = bind_scalars(op, {});
  ASSERT_EQ(values.size(), 4U);
  expect_same(values[0], 0.1F);
  expect_same(values[1], 10000000000000000000u);
  expect_same(values[2], 1);
  expect_same(values[3], 9007199254740993);
  op.scalars[2].example = 2.5;
  EXPECT_THROW((void)bind_scalars(op, {}), UsageError);
}

Problem problem_with(DType dtype, const std::string& scalar) {
  Fused op = symbolic();
  op.scalars = {{.name = "s", .dtype = dtype, .example = {}}};
  const Inputs inputs{.dims = {{"N", "8"}}, .scalars = {{"s", scalar}}, .arrays = {}};
  return make_problem(op, {Access::in, Access::out}, inputs);
}

// Scalars were taken as doubles, and integers that are not doubles were refused.
TEST(Problem, GivesTheReferenceExactIntegers) {
  const auto reference = [](DType dtype, const char* scalar) {
    return problem_with(dtype, scalar).arguments().scalars.at(0);
  };
  EXPECT_EQ(reference(i64, "-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(reference(u64, "9223372036854775808"), 9223372036854775808u);
  EXPECT_EQ(reference(i32, "0"), 0);
  EXPECT_EQ(reference(f32, "-0.5"), -0.5);
  EXPECT_EQ(reference(i64, "9007199254740993"), 9007199254740993);
  EXPECT_EQ(reference(i64, "-9007199254740993"), -9007199254740993);
  EXPECT_EQ(reference(u64, "18446744073709551615"), 18446744073709551615u);
}

TEST(CheckArray, ComparesDtypeAndShape) {
  const Tensor x{.name = "x", .dtype = f32, .layout = "(2,3):(3,1)"};
  EXPECT_NO_THROW(check_array({{"<f4", false, {2, 3}}, {}}, x, x.layout));
  EXPECT_THROW(check_array({{"<f8", false, {2, 3}}, {}}, x, x.layout), UsageError);
  EXPECT_THROW(check_array({{"<f4", false, {3, 2}}, {}}, x, x.layout), UsageError);
  EXPECT_THROW(check_array({{"<f4", false, {6}}, {}}, x, x.layout), UsageError);
}

TEST(FillRandom, DependsOnTheSeedAndKeepsItsRange) {
  for (const DType dtype : kAllDTypes) {
    SCOPED_TRACE(to_string(dtype));
    const auto width = static_cast<std::size_t>(size_bytes(dtype));
    std::vector<std::byte> a(1000 * width), b(a.size()), other(a.size());
    fill_random(dtype, a.data(), a.size(), 1);
    fill_random(dtype, b.data(), b.size(), 1);
    fill_random(dtype, other.data(), other.size(), 2);
    EXPECT_EQ(a, b);
    EXPECT_NE(a, other);
    double least = 1e9, most = -1e9;
    for (std::size_t i = 0; i < a.size(); i += width) {
      least = std::min(least, decode(dtype, a.data() + i));
      most = std::max(most, decode(dtype, a.data() + i));
    }
    const double limit = is_floating(dtype) || dtype == b8 ? 1 : 100;
    EXPECT_LE(most, limit);
    EXPECT_GT(most, 0.9 * limit);
    EXPECT_GE(least,
              is_floating(dtype) || category(dtype) == Category::signed_integer ? -limit : 0);
    EXPECT_LT(least, 0.1 * limit);
  }
}

TEST(MakeProblem, CountsEachInputOnceAndEachOutputOnce) {
  const Fused op{.name = "k",
                 .tensors = {{.name = "a", .dtype = f16, .layout = "(8,4):(4,1)"},
                             {.name = "bias", .dtype = f16, .layout = "(8,4):(0,1)"},
                             {.name = "y", .dtype = f32, .layout = "(8,4):(4,1)"},
                             {.name = "z", .dtype = f32, .layout = "(8,4):(4,1)"}},
                 .formula = "y = a + bias; z = z + 1"};
  const Problem problem =
      make_problem(op, {Access::in, Access::in, Access::out, Access::inout}, Inputs{});
  EXPECT_EQ(problem.bytes_moved, 32 * 2 + 4 * 2 + 32 * 4 + 2 * 32 * 4);
}

TEST(MakeProblem, RefusesWhatTheHostCannotHold) {
  Fused op = symbolic();
  op.symbols = {};
  const Inputs inputs{.dims = {{"M", "1000000"}, {"N", "1000000"}}, .scalars = {}, .arrays = {}};
  try {
    (void)make_problem(op, {Access::in, Access::out}, inputs);
    ADD_FAILURE() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("kernel k needs 59604.6 GiB of host memory"));
  }
}

}  // namespace
}  // namespace tilejit::cli
