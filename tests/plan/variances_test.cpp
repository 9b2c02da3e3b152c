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

// Such rows were read by clusters of blocks with few threads each, in twice the time.
TEST(Variances, OfRowsThatClustersHoldTakeTwoPasses) {
  const Plan plan = variance_of(f32, "(43,33759):(33759,1)", "(43,1):(1,0)", 1);
  EXPECT_FALSE(is_one_pass(plan));
  EXPECT_FALSE(plan.peeled);
  EXPECT_EQ(rows_of(plan)->cluster, 8);
  EXPECT_GT(rows_of(plan)->register_vectors, 0);
}

TEST(Variances, OfFewRowsOccupyMostMultiprocessors) {
  EXPECT_EQ(rows_of(variance_of(f32, "905057:1", "1:1", 0))->splits, 110);
}

}  // namespace
}  // namespace tilejit::plan
