// What products reduce along the rows of their left operand, and when.
#include "plan/statistics.hpp"

#include <gtest/gtest.h>

#include "plans.hpp"

namespace tilejit::plan {
namespace {

/// Of x (M,K), w (K,N), y (M,N), all row-major.
Fused normed(const char* formula, int m = 4096, int n = 4096, int k = 4096) {
  return {.name = "normed",
          .tensors = {{"x", bf16, Layout(IntTuple{m, k}, IntTuple{k, 1})},
                      {"w", bf16, Layout(IntTuple{k, n}, IntTuple{n, 1})},
                      {"y", bf16, Layout(IntTuple{m, n}, IntTuple{n, 1})}},
          .formula = formula};
}

constexpr const char* kNorm = "y = (x * rsqrt(mean(x * x) + 1)) @ w";

std::size_t kernels(const Plan& plan) {
  return parts_of(plan).size();
}

bool reduces(const Plan& plan) {
  const Matmul* const product = matmul_of(parts_of(plan).back());
  return product != nullptr && product->statistic != expr::kNoNode;
}

TEST(Statistics, AreReducedByTheProduct) {
  const Plan plan = plan_of(normed(kNorm));
  ASSERT_EQ(kernels(plan), 1U);
  EXPECT_TRUE(reduces(plan));
  const Plan& part = parts_of(plan).front();
  EXPECT_EQ(part.tensors, (std::vector{0, 1, 2})) << "x, w and y: the factor is in no memory";
  EXPECT_TRUE(part.shape.empty()) << "the row's length is a number";
  EXPECT_FALSE(std::get<MatmulWgmma>(part.family).swapped);
  EXPECT_EQ(std::get<Several>(plan.family).temporaries.at(0).elements, Dim(0));
}

TEST(Statistics, AreOneReductionOfRows) {
  struct Case {
    const char *what, *formula;
    std::size_t kernels;
  };
  constexpr Case kCases[] = {
      {"a sum of squares", kNorm, 1},
      {"a maximum", "y = (x / max(abs(x))) @ w", 1},
      {"with an epilogue", "y = relu((x / (1 + sum(abs(x)))) @ w + 1)", 1},
      {"two reductions", "y = (x / (max(x) - min(x))) @ w", 2},
      {"of the right operand", "y = x @ (w / (1 + max(abs(w), axis=0)))", 2},
      {"of another tensor", "y = (x * rsqrt(mean(w * w) + 1)) @ w", 2},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.what);
    const Plan plan = plan_of(normed(c.formula));
    EXPECT_EQ(kernels(plan), c.kernels);
    EXPECT_EQ(reduces(plan), c.kernels == 1);
  }
}

/// All warps of a multiprocessor share the instructions that reduce rows, so that two warpgroups
/// are no faster at it: 128 rows by 40 columns took 1.46 times as long.
TEST(Statistics, TakeAsLongInTwoWarpgroups) {
  const Plan plan = plan_of(normed(kNorm, 128, 4096, 2048));
  ASSERT_TRUE(reduces(plan));
  EXPECT_EQ(std::get<MatmulWgmma>(parts_of(plan).front().family).tile.m, 64);
}

TEST(Statistics, AreReducedByEveryProductThatReadsThem) {
  Fused op = normed("h = x * rsqrt(mean(x * x) + 1); y = h @ w; z = gelu(h @ v)");
  op.tensors.push_back({"v", bf16, "(4096,1024)"});
  op.tensors.push_back({"z", bf16, "(4096,1024)"});
  const Plan plan = plan_of(op);
  ASSERT_EQ(kernels(plan), 2U);
  for (const Plan& part : parts_of(plan)) EXPECT_NE(matmul_of(part)->statistic, expr::kNoNode);
}

TEST(Statistics, AreStepsOfTheirOwnElsewhere) {
  for (const char* target : {"sm_80", "sm_90", "sm_100a", "sm_120a"})
    EXPECT_EQ(kernels(plan_of(normed(kNorm), parse_target(target))), 2U) << target;
  Fused op = normed(kNorm);
  op.tensors[0].layout = "(4096,4096):(1,4096)";
  EXPECT_EQ(kernels(plan_of(op)), 2U) << "rows do not lie along K";
  op = normed(kNorm);
  op.tensors[2].dtype = f32;
  EXPECT_EQ(kernels(plan_of(op)), 2U) << "sums go through shared memory to the formula";
  EXPECT_EQ(kernels(plan_of(normed(kNorm, 4096, 4096, 4104))), 2U) << "a part of a stage";
  EXPECT_EQ(kernels(plan_of(normed(kNorm, 4096, 4096, 16384))), 2U) << "a long chain of sums";
  op = normed("r = rsqrt(mean(x * x) + 1); y = bf16(x * r) @ w");
  op.tensors.push_back({"r", f32, "(4096,1)"});
  EXPECT_EQ(kernels(plan_of(op)), 2U) << "an output besides";
  op = normed("h = x * rsqrt(mean(x * x) + 1); y = h @ w; z = gelu(h @ v)");
  op.tensors.push_back({"v", bf16, "(4096,1024)"});
  op.tensors.push_back({"z", f32, "(4096,1024)"});
  EXPECT_EQ(kernels(plan_of(op)), 3U) << "one of two products cannot";
}

}  // namespace
}  // namespace tilejit::plan
