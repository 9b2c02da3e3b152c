// Rows whose variance is wanted: how often they are read, and by how many blocks.
#include <gtest/gtest.h>

#include "plan/plans.hpp"
#include "rows/rows.hpp"
#include "support/specs.hpp"

namespace tilejit::plan {
namespace {

Plan variance_of(DType dtype, const std::string& x, const std::string& y, int axis) {
  return plan_of(
      test::make_op(dtype, {{"x", x}, {"y", y}}, "y = var(x, axis=" + std::to_string(axis) + ")"));
}

TEST(Variances, OfRowsThatNoBlockHoldsTakeOnePass) {
  const Plan rows = variance_of(bf16, "(3,4194304):(4194304,1)", "(3,1):(1,0)", 1);
  EXPECT_TRUE(is_one_pass(rows));
  EXPECT_EQ(rows_of(rows)->splits, 44) << "a block at once on each multiprocessor";
  EXPECT_TRUE(is_one_pass(variance_of(bf16, "(4194304,12):(12,1)", "(1,12):(0,1)", 0)));
  EXPECT_FALSE(is_one_pass(variance_of(bf16, "(8192,1000):(1000,1)", "(1,1000):(0,1)", 0)))
      << "clusters hold such columns";
  EXPECT_FALSE(is_one_pass(variance_of(bf16, "(1000,4096):(4096,1)", "(1000,1):(1,0)", 1)));
}

// 2703/68 of the sweep: two kernels read them twice, in 31.8 us instead of 21.2.
TEST(Variances, OfColumnsOfTwoInputsThatNoClusterHoldsTakeOnePass) {
  const auto variance = [](const std::string& length) {
    const std::string matrix = "(" + length + ",1536):(1536,1)";
    Fused op = test::make_op(bf16, {{"x", matrix}, {"m", matrix}, {"y", "(1,1536):(0,1)"}},
                             "y = var(where(m, x, 0.0), axis=0)");
    op.tensors[1].dtype = b8;
    return plan_of(op);
  };
  EXPECT_TRUE(is_one_pass(variance("8192")));
  const Plan held = variance("4096");
  EXPECT_FALSE(is_one_pass(held));
  EXPECT_GT(rows_of(held)->register_vectors, 0);
}

// Such rows were read by clusters of blocks with few threads each, in twice the time.
TEST(Variances, OfRowsThatClustersHoldTakeTwoPasses) {
  const Plan plan = variance_of(f32, "(43,33759):(33759,1)", "(43,1):(1,0)", 1);
  EXPECT_FALSE(is_one_pass(plan));
  EXPECT_FALSE(plan.peeled);
  EXPECT_EQ(rows_of(plan)->cluster, 8);
  EXPECT_GT(rows_of(plan)->register_vectors, 0);
}

// A cluster would compute each value twice. 302/79 of the sweep: 66 us by clusters of four, 52 in
// one pass.
TEST(Variances, OfManyRowsOfHeavyValuesTakeOnePass) {
  const auto variance = [](const char* formula, const char* x, const char* y) {
    Fused op = test::make_op(f16, {{"x", x}, {"w", "(1,65536):(0,1)"}, {"y", y}}, formula);
    op.axis = {1};
    return plan_of(op);
  };
  const char* const heavy = "y = var(x / (abs(w) + 1) / (w * w + 1))";
  const Plan many = variance(heavy, "(270,65536):(65536,1)", "(270,1):(1,0)");
  EXPECT_TRUE(is_one_pass(many));
  EXPECT_EQ(rows_of(many)->cluster, 1);
  EXPECT_FALSE(is_one_pass(variance(heavy, "(43,65536):(65536,1)", "(43,1):(1,0)")));
  EXPECT_FALSE(is_one_pass(variance("y = var(x + w)", "(270,65536):(65536,1)", "(270,1):(1,0)")));
}

// By elements, a block had 8 KB under way, and a centre for each element (1002/91 of the sweep).
TEST(Variances, OfOddRowsOfHeavyValuesTakeWholeVectors) {
  const auto variance = [](const char* formula) {
    return plan_of(test::make_op(f32, {{"x", "(468,64829):(64829,1)"}, {"y", "(468,1):(1,0)"}},
                                 std::string("y = var(") + formula + ", axis=1)"));
  };
  const Plan heavy = variance("sigmoid(x)");
  EXPECT_TRUE(heavy.peeled);
  EXPECT_EQ(heavy.vector, 4);
  EXPECT_TRUE(is_one_pass(heavy));
  EXPECT_FALSE(variance("x").peeled) << "clusters hold them, by elements";
}

TEST(Variances, OfFewRowsOccupyMostMultiprocessors) {
  EXPECT_EQ(rows_of(variance_of(f32, "905057:1", "1:1", 0))->splits, 110);
}

// 2404/30 of the sweep: 71 registers and 39.7 us by batches of 4, 59 and 30.6 of 2.
TEST(Variances, OfLongHeavyRowsHaveBatchesThatLeaveRoomForTwoBlocks) {
  const auto batch = [](DType dtype, const std::string& formula) {
    Fused op = test::make_op(dtype, {{"x", "34006000:1"}, {"y", "1:0"}}, "y = " + formula);
    if (formula.find('w') != std::string::npos) op.tensors.push_back({"w", dtype, "34006000:1"});
    return plan_of(op).unroll;
  };
  EXPECT_EQ(batch(bf16, "var(log(1 + exp(x)) + w)"), 2);
  EXPECT_EQ(batch(f32, "var(clamp(x / 6, 0, 1) + w)"), 2);
  EXPECT_EQ(batch(bf16, "var(log(1 + exp(x)))"), 4) << "two blocks have room for four";
  EXPECT_EQ(batch(f32, "var(x + w)"), 4) << "loads count more than threads";
  EXPECT_EQ(batch(f32, "var(sin(x) + w)"), 4) << "there would be one block anyway";
}

// 1803/124 of the sweep: 191 us by 132 blocks, 142 by 264.
TEST(Variances, OfHeavyValuesHaveTwoBlocksOnEachMultiprocessor) {
  const Plan heavy = plan_of(test::make_op(f16, {{"x", "109571932:1"}, {"y", "1:1"}},
                                           "y = var(silu(clamp(x / 6 + 0.5, 0, 1)), axis=0)"));
  EXPECT_EQ(rows_of(heavy)->splits, 264);
}

// 2902/172 of the sweep, 89 registers: 11.8 us by 255 blocks of which 132 run at once, 9.7 by 127.
TEST(Variances, OfHeavyValuesHaveOneBlockIfRegistersLastForOne) {
  const auto splits = [](const std::string& formula) {
    const std::string n = "10451680:1";
    return rows_of(plan_of(test::make_op(f32, {{"x", n}, {"w", n}, {"y", "1:0"}}, formula)))
        ->splits;
  };
  EXPECT_EQ(splits("v = w / (abs(x) + 1); y = var(v) + sqrt(sum(v * v))"), 132);
  EXPECT_EQ(splits("y = var(w / (abs(x) + 1))"), 264) << "two by half of the loads";
}

}  // namespace
}  // namespace tilejit::plan
