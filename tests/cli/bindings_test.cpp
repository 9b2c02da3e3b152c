#include "bindings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "command.hpp"
#include "problem.hpp"
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

TEST(ParseAssignments, SplitsAtTheFirstEquals) {
  EXPECT_EQ(parse_assignments({"x=a=b.npy", "y=/tmp/y"}, "--in"),
            (Assignments{{"x", "a=b.npy"}, {"y", "/tmp/y"}}));
  for (const char* wrong : {"x", "=y", "x=", ""}) {
    EXPECT_THROW((void)parse_assignments({wrong}, "--in"), UsageError) << wrong;
  }
  EXPECT_THROW((void)parse_assignments({"x=1", "x=2"}, "--in"), UsageError);
}

TEST(BindScalars, RoundsToTheScalarsType) {
  Fused op = symbolic();
  op.scalars = {{.name = "a", .dtype = f32, .example = 0.1},
                {.name = "n", .dtype = i32, .example = {}}};
  EXPECT_EQ(bind_scalars(op, {}), (std::vector<double>{0.1F, 1}));
  EXPECT_EQ(bind_scalars(op, {{"a", "0.5"}, {"n", "-7"}}), (std::vector<double>{0.5, -7}));
  EXPECT_THROW((void)bind_scalars(op, {{"a", "half"}}), UsageError);
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
