#include "expr/nested_sums.hpp"

#include <gtest/gtest.h>

#include <string>

#include "expr_support.hpp"

namespace tilejit::expr {
namespace {

std::string sums_of(const std::string& formula, DType output = f32) {
  Scope scope = scope_for(formula, output);
  scope.rank = 3;
  return program_text(compile_formula(formula, scope));
}

TEST(NestedSums, AreOne) {
  EXPECT_EQ(sums_of("y = sum(sum(x_f32, axis=2), axis=1)"),
            "v0: f32 = load t0; v1: f32 = reduce_sum v0 axes 1,2; store t1 v1");
  EXPECT_EQ(sums_of("y = mean(mean(x_f32, axis=2), axis=(0, 1))"),
            "v0: f32 = load t0; v1: f32 = extent axes 2; v2: f32 = reduce_sum v0 axes 0,1,2; "
            "v3: f32 = div v2 v1; v4: f32 = extent axes 0,1; v5: f32 = div v3 v4; store t1 v5");
  EXPECT_EQ(sums_of("y = sum(0.5 * sum(sum(x_f32, axis=0), axis=1) / 3, axis=2)"),
            "v0: f32 = load t0; v1: f32 = constant 0.5; v2: f32 = constant 3; "
            "v3: f32 = reduce_sum v0 axes 0,1,2; v4: f32 = mul v1 v3; v5: f32 = div v4 v2; "
            "store t1 v5");
  EXPECT_EQ(sums_of("y = sum(sum(x_i32, axis=2), axis=1)", i64),
            "v0: i32 = load t0; v1: i64 = cast v0; v2: i64 = reduce_sum v1 axes 1,2; store t1 v2");
}

TEST(NestedSums, StayApartIfSomethingElseUsesTheInnerOne) {
  const auto count = [](const std::string& formula) {
    const std::string text = sums_of(formula);
    int found = 0;
    for (std::size_t at = text.find("reduce_"); at != std::string::npos;
         at = text.find("reduce_", at + 1))
      ++found;
    return found;
  };
  for (const char* formula :
       {"s = sum(x_f32, axis=2); y = sum(s, axis=1) + s",
        "y = sum(sqrt(sum(x_f32, axis=2)), axis=1)", "y = sum(sum(x_f32, axis=2) + 1, axis=1)",
        "y = sum(sum(x_f32, axis=1), axis=1)", "y = max(sum(x_f32, axis=2), axis=1)",
        "y = sum(f16(sum(x_f32, axis=2)), axis=1)",
        "s = sum(x_f32, axis=2); y = sum(s * s, axis=1)",
        "y = sum(sum(sum(x_f32, axis=1), axis=0), axis=1)"}) {
    EXPECT_EQ(count(formula), 2) << formula;
  }
}

}  // namespace
}  // namespace tilejit::expr
