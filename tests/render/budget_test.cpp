// How much work the kernels of one operation may give the compiler.
#include "render/budget.hpp"

#include <gtest/gtest.h>

#include <string>

#include "plan/plan.hpp"
#include "render/render.hpp"
#include "support/long_formulas.hpp"
#include "tilejit/error.hpp"

namespace tilejit::render {
namespace {

plan::Plan plan_of(const Fused& op) {
  return plan::make_plan(op, formula::analyze(op), parse_target("sm_90a"));
}

TEST(Budget, HasRoomForOnePassOfTheLongestFormulas) {
  for (const test::LongFormula& formula : test::long_formulas(16'000)) {
    SCOPED_TRACE(formula.name);
    EXPECT_NO_THROW((void)render(plan_of(formula.op)));
  }
}

TEST(Budget, CountsWhatPassesAndKernelsComputeAgain) {
  for (const char* const end : {"y = t - max(t * max(t * max(t)))",
                                "y = max(t, axis=1) + max(t, axis=0) + max(t, axis=(0, 1))"}) {
    SCOPED_TRACE(end);
    Fused op = test::long_formulas(16'000).front().op;
    op.formula.replace(op.formula.rfind("y = "), std::string::npos, end);
    try {
      (void)render(plan_of(op));
      ADD_FAILURE() << "rendered";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
      EXPECT_NE(std::string(error.what()).find("20000 operations"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace tilejit::render
