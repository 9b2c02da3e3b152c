#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <string>

#include "reference/host_operation.hpp"
#include "tilejit/error.hpp"

namespace tilejit {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::NanSensitiveDoubleEq;
using testing::Pointwise;

std::vector<double> run(Fused op, const std::vector<std::vector<double>>& inputs) {
  HostOperation operation(std::move(op));
  for (std::size_t i = 0; i < inputs.size(); ++i) operation.fill(i, inputs[i]);
  operation.run();
  EXPECT_TRUE(operation.check().passed) << operation.check().first_mismatch;
  return operation.last();
}

struct Row {
  const char* formula;  // x: (2,3), 1 to 6; b: (2,1), 10 and 20; r: (3), 1 2 4
  const char* output;   // layout of y
  std::vector<double> want;
};

std::vector<double> run_row(const Row& row, DType dtype) {
  const std::string formula(row.formula);
  Fused op{.formula = formula};
  std::vector<std::vector<double>> inputs;
  const auto add = [&](const char* name, const char* layout, std::vector<double> values) {
    if (formula.find(std::string("(") + name) == std::string::npos) return;
    op.tensors.push_back({name, dtype, parse_layout(layout)});
    inputs.push_back(std::move(values));
  };
  add("x", "(2,3):(3,1)", {1, 2, 3, 4, 5, 6});
  add("b", "(2,1):(1,1)", {10, 20});
  add("r", "3:1", {1, 2, 4});
  op.tensors.push_back({"y", f64, parse_layout(row.output)});
  return run(std::move(op), inputs);
}

TEST(Reduction, GivesWhatAPersonGets) {
  const Row rows[] = {
      {"y = sum(x)", "2:1", {6, 15}},
      {"y = sum(x)", "(2,1):(1,1)", {6, 15}},
      {"y = sum(x)", "(2,3):(3,1)", {6, 6, 6, 15, 15, 15}},
      {"y = sum(x, axis=0)", "3:1", {5, 7, 9}},
      {"y = sum(x, axis=0)", "(1,3):(3,1)", {5, 7, 9}},
      {"y = sum(x, axis=(0, 1))", "1:1", {21}},
      {"y = sum(x, axis=(1, -2))", "(1,1):(1,1)", {21}},
      {"y = prod(x)", "2:1", {6, 120}},
      {"y = mean(x)", "2:1", {2, 5}},
      {"y = var(x, axis=0)", "3:1", {2.25, 2.25, 2.25}},
      {"y = max(x)", "2:1", {3, 6}},
      {"y = min(x, axis=0)", "3:1", {1, 2, 3}},
      {"y = argmax(x)", "2:1", {2, 2}},
      {"y = argmin(x, axis=(0, 1))", "1:1", {0}},
      {"y = argmax(x * (6 - x), axis=(0, 1))", "1:1", {2}},
      {"y = any(x > 3)", "2:1", {0, 1}},
      {"y = all(x > 3)", "2:1", {0, 1}},
      {"y = all(x > 0, axis=(0, 1)) and any(x == 6, axis=(0, 1))", "1:1", {1}},
      {"y = sum(x, init=1, axis=0)", "3:1", {6, 8, 10}},  // as the CuTe DSL's notebook prints it
      {"y = sum(x, init=100)", "2:1", {106, 115}},
      {"y = prod(x, init=2, axis=0)", "3:1", {8, 20, 36}},
      {"y = max(x, init=4)", "2:1", {4, 6}},
      {"y = min(x, init=2)", "2:1", {1, 2}},
      {"y = any(x > 5, init=true)", "2:1", {1, 1}},
      {"y = all(x > 0, init=false)", "2:1", {0, 0}},
      {"y = (x - min(x)) * 1", "(2,3):(3,1)", {0, 1, 2, 0, 1, 2}},
      {"y = max(sum(x), axis=0)", "1:1", {15}},
      {"t = sum(x); y = sum((x - t) * (x - t), axis=0)", "3:1", {25 + 121, 16 + 100, 9 + 81}},
      {"y = sum(b) + 0 * sum(x)", "2:1", {30, 60}},
      {"y = sum(r, axis=0) + 0 * sum(x, axis=0)", "3:1", {2, 4, 8}},
      {"y = sum(x) + (b)", "(2,1):(1,1)", {16, 35}},
      {"y = sum(x, axis=0) + (r)", "3:1", {6, 9, 13}},
      {"y = sum(x) * (r)", "(2,3):(3,1)", {6, 12, 24, 15, 30, 60}},
      {"y = sum(x * iota(1)) + extent((0, 1)) * extent(0)", "2:1", {8 + 12, 17 + 12}},
      {"y = iota(0) * 10 + iota(-1)", "(2,3):(3,1)", {0, 1, 2, 10, 11, 12}},
      {"y = sum(iota(1))", "(2,3):(3,1)", {3, 3, 3, 3, 3, 3}},
      {"y = extent(-1)", "(2,3):(3,1)", {3, 3, 3, 3, 3, 3}},
      {"y = 3", "(2,2):(2,1)", {3, 3, 3, 3}},
  };
  for (const Row& row : rows) {
    for (const DType dtype : {f32, f64, f16, i32}) {
      SCOPED_TRACE(std::string(row.formula) + " of " + std::string(to_string(dtype)));
      EXPECT_EQ(run_row(row, dtype), row.want);
    }
  }
}

TEST(Reduction, NegativeAndUnsignedIntegersWrapIn64Bits) {
  const Fused op{.tensors = {{"x", i8, "3:1"}, {"s", i64, "1:1"}, {"p", i64, "1:1"}},
                 .formula = "s = sum(x); p = prod(x)"};
  HostOperation operation(op);
  operation.fill(0, {-100, -100, 100});
  operation.run();
  EXPECT_EQ(operation.get(1, 0), -100);
  EXPECT_EQ(operation.get(2, 0), 1e6);
  EXPECT_THAT(run({.tensors = {{"x", u64, "2:1"}, {"y", u64, "1:1"}}, .formula = "y = sum(x - 1)"},
                  {{0, 2}}),
              ElementsAre(0));
}

TEST(Reduction, NanIsIgnoredByExtremesOnly) {
  struct NanRow {
    const char* formula;
    std::vector<double> want;
  };
  const NanRow rows[] = {
      {"y = max(x)", {3, kNan, -kInf}},   {"y = min(x)", {1, kNan, -kInf}},
      {"y = argmax(x)", {2, 0, 1}},       {"y = argmin(x)", {1, 0, 1}},
      {"y = sum(x)", {kNan, kNan, kNan}}, {"y = prod(x)", {kNan, kNan, kNan}},
      {"y = any(x)", {1, 1, 1}},          {"y = all(x)", {1, 1, 1}},
      {"y = max(x, init=0)", {3, 0, 0}},
  };
  for (const NanRow& row : rows) {
    SCOPED_TRACE(row.formula);
    EXPECT_THAT(
        run({.tensors = {{"x", f32, "(3,3):(3,1)"}, {"y", f64, "3:1"}}, .formula = row.formula},
            {{kNan, 1, 3, kNan, kNan, kNan, kNan, -kInf, -kInf}}),
        Pointwise(NanSensitiveDoubleEq(), row.want));
  }
}

TEST(Reduction, InfinitiesAddUp) {
  EXPECT_THAT(
      run({.tensors = {{"x", f32, "(3,2):(2,1)"}, {"y", f64, "3:1"}}, .formula = "y = sum(x)"},
          {{kInf, 1, -kInf, -kInf, kInf, -kInf}}),
      Pointwise(NanSensitiveDoubleEq(), {kInf, -kInf, kNan}));
  EXPECT_THAT(
      run({.tensors = {{"x", f32, "(3,2):(2,1)"}, {"y", f64, "3:1"}}, .formula = "y = prod(x)"},
          {{kInf, -1, -kInf, -kInf, kInf, 0}}),
      Pointwise(NanSensitiveDoubleEq(), {-kInf, kInf, kNan}));
}

TEST(Reduction, OfNothingIsTheNeutralValue) {
  struct EmptyRow {
    const char* formula;
    DType dtype;
    double want;
  };
  constexpr EmptyRow kRows[] = {
      {"y = sum(x)", f32, 0},         {"y = prod(x)", f32, 1},
      {"y = max(x)", f32, -kInf},     {"y = min(x)", f16, kInf},
      {"y = max(x)", i8, -128},       {"y = min(x)", i8, 127},
      {"y = max(x)", u16, 0},         {"y = min(x)", u16, 65535},
      {"y = max(x)", b8, -0x1p31},    {"y = any(x)", f32, 0},
      {"y = all(x)", f32, 1},         {"y = argmax(x)", f32, 0},
      {"y = argmin(x)", i32, 0},      {"y = mean(x)", f32, kNan},
      {"y = sum(x, init=7)", i32, 7}, {"y = extent(1) + sum(x)", f32, 0},
  };
  for (const EmptyRow& row : kRows) {
    SCOPED_TRACE(row.formula);
    EXPECT_THAT(run({.tensors = {{"x", row.dtype, "(2,0):(1,1)"}, {"y", f64, "2:1"}},
                     .formula = row.formula},
                    {{}}),
                Pointwise(NanSensitiveDoubleEq(), {row.want, row.want}));
  }
}

TEST(Reduction, EmptyResultsAreLeftAlone) {
  HostOperation operation(
      {.tensors = {{"x", f32, "(M,3):(3,1)"}, {"y", f32, "M:1"}}, .formula = "y = sum(x)"},
      {{"M", 0}});
  operation.run();
  EXPECT_EQ(operation.check().elements, 0);
}

TEST(Reduction, NullTensorsAreRefusedOverAnEmptySpaceToo) {
  const Fused op{.tensors = {{"x", f32, "(2,0):(1,1)"}, {"y", f32, "2:1"}},
                 .formula = "y = sum(x)"};
  try {
    evaluate(op, {.tensors = {nullptr, nullptr}});
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_THAT(error.what(), HasSubstr("tensor 'y' is null"));
  }
}

// In place, every output reads the element's value from before the launch.
TEST(Reduction, OutputsOfFewerAxesAreStoredLast) {
  const Fused op{.tensors = {{.name = "x", .layout = "(2,3):(3,1)", .access = Access::inout},
                             {.name = "acc", .layout = "(2,1):(1,1)", .access = Access::inout},
                             {"y", f32, "(2,3):(3,1)"}},
                 .formula = "n = acc + sum(x); y = x + acc; acc = n; x = x / sum(x)"};
  HostOperation operation(op);
  operation.fill(0, {1, 1, 2, 2, 4, 2});
  operation.fill(1, {10, 20});
  operation.run();
  EXPECT_THAT(operation.values(0), ElementsAre(0.25, 0.25, 0.5, 0.25, 0.5, 0.25));
  EXPECT_THAT(operation.values(1), ElementsAre(14, 28));
  EXPECT_THAT(operation.values(2), ElementsAre(11, 11, 12, 22, 24, 22));
}

TEST(Reduction, MeanOfManyNarrowValuesCountsThemExactly) {
  // 70000 is not an f16; the sum is not an f16 either.
  HostOperation operation(
      {.tensors = {{"x", f16, "70000:1"}, {"y", f32, "1:1"}}, .formula = "y = mean(x)"});
  for (std::size_t i = 0; i < 70000; ++i) operation.set(0, i, 2);
  operation.run();
  EXPECT_THAT(operation.last(), ElementsAre(2));
  EXPECT_TRUE(operation.check().passed);
}

// Large enough for several threads, which share results at the boundaries of their ranges.
TEST(Reduction, ThreadsShareResults) {
  constexpr std::int64_t kRows = 300, kColumns = 1001;
  struct SharedRow {
    const char* axes;
    const char* output;
  };
  constexpr SharedRow kShared[] = {{"(0, 1)", "1:1"}, {"0", "1001:1"}, {"1", "300:1"}};
  for (const SharedRow& row : kShared) {
    SCOPED_TRACE(row.axes);
    const std::string axes = std::string(", axis=") + row.axes + ")";
    HostOperation operation(
        {.tensors = {{"x", i32, "(300,1001):(1001,1)"},
                     {"s", i64, parse_layout(row.output)},
                     {"a", i64, parse_layout(row.output)},
                     {"m", f64, parse_layout(row.output)}},
         .formula = "s = sum(x" + axes + "; a = argmax(x" + axes + "; m = max(f64(x)" + axes});
    const std::size_t results = operation.last().size();
    std::vector<double> sums(results, 0), largest(results, -kInf), places(results, 0);
    std::mt19937_64 random(5);
    for (std::int64_t i = 0; i < kRows * kColumns; ++i) {
      const auto value = static_cast<double>(random() % 100000);
      operation.set(0, static_cast<std::size_t>(i), value);
      const bool whole = results == 1, by_column = results == kColumns;
      const auto r = static_cast<std::size_t>(whole ? 0 : by_column ? i % kColumns : i / kColumns);
      const std::int64_t place = whole ? i : by_column ? i / kColumns : i % kColumns;
      sums[r] += value;
      if (value <= largest[r]) continue;
      largest[r] = value;
      places[r] = static_cast<double>(place);
    }
    operation.run();
    EXPECT_EQ(operation.values(1), sums);
    EXPECT_EQ(operation.values(2), places);
    EXPECT_EQ(operation.values(3), largest);
    EXPECT_TRUE(operation.check().passed) << operation.check().first_mismatch;
  }
}

TEST(Reduction, Softmax) {
  const Fused op{.tensors = {{"x", f32, "(2,3):(3,1)"}, {"y", f64, "(2,3):(3,1)"}},
                 .formula = "e = exp(x - max(x)); y = e / sum(e)"};
  const std::vector<double> x = {1000, 1001, 1002, -1, 0, 3};
  const std::vector<double> y = run(op, {x});
  for (int row = 0; row < 2; ++row) {
    double total = 0;
    for (int i = 0; i < 3; ++i) total += std::exp(x[3 * row + i] - x[3 * row + 2]);
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(y[3 * row + i], std::exp(x[3 * row + i] - x[3 * row + 2]) / total, 1e-15);
    }
  }
}

TEST(Reduction, LayernormOverTwoAxesWithStatistics) {
  const Fused op{.tensors = {{"x", f32, "(2,2,2):(4,2,1)"},
                             {"w", f32, "(2,2):(2,1)"},
                             {"center", f64, "2:1"},
                             {"y", f64, "(2,2,2):(4,2,1)"}},
                 .formula = "center = mean(x); y = (x - mean(x)) * rsqrt(var(x) + 1e-5) * w",
                 .axis = {1, 2}};
  HostOperation operation(op);
  operation.fill(0, {1, 2, 3, 4, 0, 0, 0, 8});
  operation.fill(1, {1, 1, 1, 2});
  operation.run();
  EXPECT_THAT(operation.values(2), ElementsAre(2.5, 2));
  const double a = 1 / std::sqrt(1.25 + 1e-5), b = 1 / std::sqrt(12 + 1e-5);
  EXPECT_THAT(operation.last(), Pointwise(DoubleNear(1e-7), {-1.5 * a, -0.5 * a, 0.5 * a, 3 * a,
                                                             -2 * b, -2 * b, -2 * b, 12 * b}));
  EXPECT_TRUE(operation.check().passed);
}

}  // namespace
}  // namespace tilejit
