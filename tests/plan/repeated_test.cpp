// Reductions over axes along which nothing varies.
#include "plan/repeated.hpp"

#include <gtest/gtest.h>

#include "plan/plans.hpp"
#include "rows/rows.hpp"
#include "support/specs.hpp"

namespace tilejit::plan {
namespace {

Fused over(std::vector<int> axis, const std::string& x, const std::string& y, const char* formula) {
  Fused op = test::make_op(f32, {{"x", x}, {"y", y}}, formula);
  op.axis = std::move(axis);
  return op;
}

// 1307/67 of the sweep: 27 us, with each element 152 times.
TEST(Repeated, ElementsAreReducedOnce) {
  const auto extents = [](const char* formula) {
    return extents_of(plan_of(over({0, 2}, "(152,20480,16):(0,16,1)", "20480:1", formula)));
  };
  EXPECT_EQ(extents("y = mean(x)"), "16 20480");
  EXPECT_EQ(extents("y = max(x)"), "16 20480");
  EXPECT_EQ(extents("y = var(x)"), "16 20480");
  EXPECT_EQ(extents("y = prod(x)"), "16 152 20480") << "a power of the product";
}

TEST(Repeated, ElementsOfAnotherOperandAreNot) {
  Fused op = test::make_op(
      f32,
      {{"x", "(152,20480,16):(0,16,1)"}, {"w", "(152,1,1):(1,0,0)"}, {"y", "(1,20480,1):(0,1,0)"}},
      "y = sum(x * w)");
  op.axis = {0, 2};
  EXPECT_EQ(extents_of(plan_of(op)), "16 152 20480");
  EXPECT_EQ(
      extents_of(plan_of(over({0}, "(152,640):(0,1)", "(152,640):(640,1)", "y = x / sum(x)"))),
      "640 152")
      << "an output has all of them";
}

TEST(Repeated, PlacesCountAllElements) {
  Fused op = over({0, 1}, "(152,16):(0,1)", "1:0", "y = argmax(x)");
  op.tensors[1].dtype = i64;
  EXPECT_EQ(extents_of(plan_of(op)), "16 152");
}

TEST(Repeated, ColumnsOfOneElementHaveVectors) {
  const Plan plan = plan_of(over({0}, "(3,2656,1848):(0,1848,1)", "(2656,1848):(1848,1)",
                                 "y = max(x) + log(sum(exp(x - max(x))))"));
  EXPECT_EQ(extents_of(plan), "4908288 1");
  EXPECT_EQ(plan.vector, 4);
  EXPECT_EQ(rows_of(plan)->register_vectors, 1);
}

TEST(Repeated, SumsAreScaled) {
  const Plan plan = plan_of(over({0}, "(3,64):(0,1)", "64:1", "y = sum(x)"));
  const std::vector<std::string> lines = {"v0: f32 = load t0", "v1: f32 = reduce_sum v0 axes 0",
                                          "v2: f32 = constant 3", "v3: f32 = mul v1 v2",
                                          "store t1 v3"};
  EXPECT_EQ(expr::to_lines(plan.program), lines);
}

}  // namespace
}  // namespace tilejit::plan
