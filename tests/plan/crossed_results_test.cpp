// Columns whose results lie in another order than their elements.
#include <gtest/gtest.h>

#include "plan/parts.hpp"
#include "plan/plans.hpp"
#include "rows/rows.hpp"
#include "support/specs.hpp"

namespace tilejit::plan {
namespace {

/// Of the logarithm of a sum over the last axis, by one kernel.
Plan logsumexp(DType dtype, const std::string& x, const std::string& y) {
  const Fused op =
      test::make_op(dtype, {{"x", x}, {"y", y}}, "m = max(x); y = m + log(sum(exp(x - m)))");
  const formula::Analysis analysis = formula::analyze(op);
  return make_plan_in_space(op, analysis, kHopper, analysis.shape);
}

// 1305/142 of the sweep: lanes that store a sector each.
TEST(CrossedResults, LieSideBySideForThreadsSideBySide) {
  const Plan plan = logsumexp(f32, "(72,64,128,2):(8192,1,64,589824)", "(72,64,128):(8192,128,1)");
  EXPECT_EQ(plan.vector, 4);
  EXPECT_EQ(extents_of(plan), "16 128 4 72 2") << "four vectors, the results' mode, the rest";
  EXPECT_EQ(rows_of(plan)->first, 4U);
}

TEST(CrossedResults, AreAsManySideBySideAsMakeSectors) {
  const auto extents = [](DType dtype, const std::string& n, const std::string& rows) {
    return extents_of(logsumexp(dtype, "(" + rows + "," + n + ",2):(" + n + ",1,4000000)",
                                "(" + rows + "," + n + "):(1," + rows + ")"));
  };
  EXPECT_EQ(extents(f16, "256", "40000"), "8 64 2 625 16 2") << "two vectors, with other warps'";
  EXPECT_EQ(extents(f32, "256", "40000"), "16 40000 16 2");
  EXPECT_EQ(extents(f32, "8", "40000"), "8 40000 2") << "no more vectors";
  EXPECT_EQ(extents(f32, "257", "40000"), "257 40000 2") << "no run divides it";
}

// Of single elements, lanes have few side by side, and warps of a block the rest of a sector.
TEST(CrossedResults, OfSingleElementsShareSectorsInABlock) {
  const Plan plan = logsumexp(bf16, "(200,128,64,2):(257,1,51400,128)", "(200,128,64):(8192,64,1)");
  EXPECT_EQ(plan.vector, 1);
  EXPECT_EQ(extents_of(plan), "4 16 4 4 8 200 2");
}

TEST(CrossedResults, OfFewOrLongColumnsStayAsTheyAre) {
  const auto crosses = [](const std::string& rows, const std::string& length) {
    const std::string x = "(" + rows + ",64," + length + "):(64,1,640000)";
    return rows_of(logsumexp(f32, x, "(" + rows + ",64):(1," + rows + ")"))->first > 2;
  };
  EXPECT_TRUE(crosses("4000", "2"));
  EXPECT_FALSE(crosses("4000", "17"));
  EXPECT_FALSE(crosses("2000", "2"));
}

TEST(CrossedResults, NeedResultsAlone) {
  const Fused op =
      test::make_op(f32, {{"x", "(4001,64,4):(64,1,256064)"}, {"y", "(4001,64,4):(1,4001,256064)"}},
                    "y = x / sum(x)");
  const formula::Analysis analysis = formula::analyze(op);
  const Plan plan = make_plan_in_space(op, analysis, kHopper, analysis.shape);
  EXPECT_EQ(rows_of(plan)->first, 2U);
}

}  // namespace
}  // namespace tilejit::plan
