#include "bench/bench_axes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/bench_plot.hpp"
#include "common/command.hpp"
#include "support/specs.hpp"

namespace tilejit::cli {
namespace {

using testing::ElementsAre;

struct AxisCase {
  const char* text;
  Axis want;
};

TEST(Axes, AreListsAndRanges) {
  const AxisCase cases[] = {
      {"M=1024", {"M", {"1024"}}},
      {"M=1024,4096", {"M", {"1024", "4096"}}},
      {"M=4096,007", {"M", {"4096", "7"}}},
      {"M=1:64:*4", {"M", {"1", "4", "16", "64"}}},
      {"M=1:70:*4", {"M", {"1", "4", "16", "64"}}},
      {"M=100:300:+100", {"M", {"100", "200", "300"}}},
      {"M=5:5:+1", {"M", {"5"}}},
      {"M=0:2:+1,9", {"M", {"0", "1", "2", "9"}}},
      {"M=4611686018427387904:9223372036854775807:*2", {"M", {"4611686018427387904"}}},
      {"dtype=f16,bf16", {"dtype", {"f16", "bf16"}}},
  };
  for (const AxisCase& row : cases) EXPECT_THAT(parse_axes({row.text}), ElementsAre(row.want));
}

TEST(Axes, RefuseWhatTheyCannotBe) {
  const struct {
    std::vector<std::string> texts;
    const char* message;
  } cases[] = {
      {{"M"}, "a name, = and values are needed"},
      {{"=4"}, "a name, = and values are needed"},
      {{"M="}, "a name, = and values are needed"},
      {{"M=4,,8"}, "--axis M"},
      {{"M=x"}, "--axis M is 'x'"},
      {{"M=-4"}, "--axis M"},
      {{"M=4:8"}, "a range has a first value"},
      {{"M=4:8:2"}, "a range has a first value"},
      {{"M=4:8:*"}, "a range has a first value"},
      {{"M=4:8:*1"}, "a range rises"},
      {{"M=0:8:*2"}, "a range rises"},
      {{"M=8:4:+1"}, "a range rises"},
      {{"M=4:8:+0"}, "a range rises"},
      {{"M=4,4"}, "a value is given twice"},
      {{"M=1:5000:+1"}, "at most 1000 values"},
      {{"M=4", "M=8"}, "M is given twice"},
  };
  for (const auto& row : cases) {
    try {
      (void)parse_axes(row.texts);
      ADD_FAILURE() << row.texts.front();
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(row.message)) << row.texts.front();
    }
  }
  EXPECT_THROW((void)parse_axes({"dtype=f12"}), std::exception);
}

TEST(Points, AreAllCombinationsTheLastAxisFastest) {
  std::vector<std::string> texts;
  for (const Point& point : points_of(parse_axes({"M=1,2", "dtype=f16,f32"}))) {
    texts.push_back(to_string(point));
  }
  EXPECT_THAT(texts,
              ElementsAre("M=1 dtype=f16", "M=1 dtype=f32", "M=2 dtype=f16", "M=2 dtype=f32"));
  EXPECT_THAT(points_of({}), ElementsAre(Point{}));
  EXPECT_THROW((void)points_of(parse_axes({"M=1:1000:+1", "N=1:1000:+1"})), UsageError);
}

TEST(Points, ChangeExamplesAndTheFirstTensorsDType) {
  Fused op = test::make_op(f16, {{"x", "(M,N):(N,1)"}, {"w", "(N):(1)"}, {"y", "(M,N):(N,1)"}},
                           "y = x * w");
  op.tensors[1].dtype = f32;
  op.symbols = {{.name = "N", .divisible_by = 8, .example = 64}};
  const Operation changed = at_point(op, {{"M", "5"}, {"N", "128"}, {"dtype", "bf16"}});
  EXPECT_EQ(changed.tensors()[0].dtype, bf16);
  EXPECT_EQ(changed.tensors()[1].dtype, f32);
  EXPECT_EQ(changed.tensors()[2].dtype, bf16);
  const std::vector<Symbol> symbols = {{.name = "N", .divisible_by = 8, .example = 128},
                                       {.name = "M", .example = 5}};
  EXPECT_EQ(changed.symbols(), symbols);
  EXPECT_EQ(at_point(op, {}), op);
  EXPECT_EQ(at_dims(op, {{"N", "8"}, {"Q", "3"}}), at_point(op, {{"N", "8"}}));
  EXPECT_THROW((void)at_point(op, {{"N", "12"}}), UsageError);
}

TEST(Axes, BelongToTheKernelsThatHaveThem) {
  const Fused with = test::make_op(f32, {{"x", "(M):(1)"}, {"y", "(M):(1)"}}, "y = x");
  const Fused without = test::make_op(f32, {{"x", "(4):(1)"}, {"y", "(4):(1)"}}, "y = x");
  const auto axes = parse_axes({"M=1,2", "dtype=f16"});
  EXPECT_EQ(axes_of(with, axes), axes);
  EXPECT_THAT(axes_of(without, axes), ElementsAre(axes[1]));
  check_axes({with, without}, axes);
  EXPECT_THROW(check_axes({without}, axes), UsageError);
}

TEST(Plots, AreLogarithmicOverFactors) {
  EXPECT_TRUE(is_geometric({1024, 4096, 16384, 65536}));
  EXPECT_TRUE(is_geometric({1000, 2000, 4000}));
  EXPECT_TRUE(is_geometric({1, 2, 5, 10, 20, 50}));
  EXPECT_FALSE(is_geometric({100, 200, 300}));
  EXPECT_FALSE(is_geometric({1000, 2000}));
  EXPECT_FALSE(is_geometric({0, 1, 10}));
}

}  // namespace
}  // namespace tilejit::cli
