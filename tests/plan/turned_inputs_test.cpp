// Columns of inputs that lie in another order than the output.
#include <gtest/gtest.h>

#include "plan/plans.hpp"
#include "support/specs.hpp"

namespace tilejit::plan {
namespace {

Plan softmax_in_orders(DType in, DType out, const std::string& x, const std::string& y) {
  Fused op = test::make_op(in, {{"x", x}, {"y", y}}, "e = exp(x - max(x)); y = e / sum(e)");
  op.axis = {0};
  op.tensors[1].dtype = out;
  return plan_of(op);
}

Rows rows_or_none(const Plan& plan) {
  const auto* const rows = std::get_if<Rows>(&plan.family);
  return rows == nullptr ? Rows{.register_vectors = -1} : *rows;
}

// 1502/99 of the sweep: rows whose vectors lie along them, and that store single elements.
TEST(TurnedInputs, LetColumnsFollowTheOutput) {
  const std::string x = "(40,8192,256):(1,10240,40)", y = "(40,8192,256):(2097152,256,1)";
  const Plan plan = softmax_in_orders(f16, f32, x, y);
  EXPECT_EQ(extents_of(plan), "2097152 40");
  EXPECT_EQ(rows_or_none(plan).turned_inputs, 20) << "of 20, by two threads";
  EXPECT_EQ(plan.vector, 1) << "rows side by side in own banks";
  // 1504/91: two kernels, since rows would store single elements
  const std::string modes = "(128,256,40,2):";
  const Plan several =
      softmax_in_orders(bf16, bf16, modes + "(1,128,65536,32768)", modes + "(20480,80,2,1)");
  EXPECT_EQ(rows_or_none(several).turned_inputs, 16);
  EXPECT_EQ(several.vector, 2);
}

TEST(TurnedInputs, AreNoneIfNothingIsGained) {
  const auto turned = [](const std::string& x, const std::string& y) {
    return rows_or_none(softmax_in_orders(f16, f16, x, y)).turned_inputs;
  };
  EXPECT_EQ(turned("(40,8192,256):(1,10240,40)", "(40,8192,256):(1,10240,40)"), 0) << "one order";
  EXPECT_EQ(turned("(40,8,256):(1,10240,40)", "(40,8,256):(2048,256,1)"), 0) << "few elements";
  EXPECT_EQ(turned("(40,M,256):(1,10240,40)", "(40,M,256):(M,256,1)"), 0) << "symbols";
  EXPECT_EQ(turned("(90000,64):(1,90000)", "(90000,64):(64,1)"), 0) << "too long to be held";
  EXPECT_EQ(turned("(1410,17,85):(1,1410,23970)", "(1410,17,85):(1445,85,1)"), 0) << "clusters";
  EXPECT_EQ(turned("(449,257,1285):(1,576965,449)", "(449,257,1285):(330245,1285,1)"), 0)
      << "by elements, of which one pass each is faster";
  EXPECT_EQ(turned("(16,8192,256):(1,4096,16)", "(16,8192,256):(2097152,256,1)"), 0)
      << "lanes store whole sectors";
}

}  // namespace
}  // namespace tilejit::plan
