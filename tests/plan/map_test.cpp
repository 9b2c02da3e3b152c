// Maps: the mode along which vectors are counted first.
#include <gtest/gtest.h>

#include "plan/plans.hpp"
#include "support/specs.hpp"

namespace tilejit::plan {
namespace {

TEST(Maps, CountFirstAlongTheModeWithinAnInputsSectors) {
  struct Row {
    const char* what;
    DType dtype;
    const char *x, *y;
    std::size_t first;
  };
  constexpr Row kRows[] = {
      {"rows of three to three rows", f32, "(3,9849132):(1,3)", "(3,9849132):(9849132,1)", 1},
      {"pairs of another mode than the next one", f32, "(6,2,720,4480):(8960,1,53760,2)",
       "(6,2,720,4480):(6451200,3225600,4480,1)", 2},
      {"little between two rows", f32, "(3,9849):(1,3)", "(3,9849):(9849,1)", 0},
      {"in the output's order", f32, "(3,9849132):(9849136,1)", "(3,9849132):(9849132,1)", 0},
      {"every third element of one row", f32, "(3,9849132):(29547396,3)", "(3,9849132):(9849132,1)",
       0},
  };
  for (const Row& row : kRows) {
    const Plan plan = plan_of(test::make_op(row.dtype, {{"x", row.x}, {"y", row.y}}, "y = x"));
    ASSERT_TRUE(std::holds_alternative<Map>(plan.family)) << row.what;
    EXPECT_EQ(std::get<Map>(plan.family).first, row.first) << row.what;
  }
}

}  // namespace
}  // namespace tilejit::plan
