#include "expr/centred_sums.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "expr_support.hpp"

namespace tilejit::expr {
namespace {

Program program_of(const std::string& formula, int rank = 2) {
  Scope scope = scope_for(formula);
  scope.rank = rank;
  return compile_formula(formula, scope);
}

int corrections(const Program& program, Correction::Of of) {
  int count = 0;
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    const auto found = find_correction(program, static_cast<NodeId>(i));
    if (found && found->of == of) ++count;
  }
  return count;
}

TEST(CentredSums, ProgramsHaveTheSumOfDistancesBesideThatOfTheirSquares) {
  EXPECT_EQ(program_text(program_of("y = var(x_f32)")),
            "v0: f32 = load t0; v1: f32 = reduce_sum v0 axes 1; v2: f32 = extent axes 1; "
            "v3: f32 = div v1 v2; v4: f32 = sub v0 v3; v5: f32 = mul v4 v4; "
            "v6: f32 = reduce_sum v4 axes 1; v7: f32 = reduce_sum v5 axes 1; "
            "v8: f32 = div v6 v2; v9: f32 = mul v6 v8; v10: f32 = constant 0; "
            "v11: f32 = max v9 v10; v12: f32 = constant 3.4028234663852886e+38; "
            "v13: f32 = min v11 v12; v14: f32 = sub v7 v13; v15: f32 = abs v14; "
            "v16: f32 = div v15 v2; store t1 v16");
  EXPECT_EQ(program_text(program_of("y = mean(x_f64) + 0 * var(x_f64)")),
            "v0: f64 = load t0; v1: f64 = reduce_sum v0 axes 1; v2: f64 = extent axes 1; "
            "v3: f64 = div v1 v2; v4: f64 = sub v0 v3; v5: f64 = mul v4 v4; "
            "v6: f64 = reduce_sum v4 axes 1; v7: f64 = reduce_sum v5 axes 1; "
            "v8: f64 = div v6 v2; v9: f64 = mul v6 v8; v10: f64 = constant 4.930380657631324e-32; "
            "v11: f64 = mul v7 v10; v12: bool = gt v9 v11; v13: f64 = add v3 v8; "
            "v14: f64 = where v12 v13 v3; v15: f64 = constant 0; v16: f64 = max v9 v15; "
            "v17: f64 = constant 1.7976931348623157e+308; v18: f64 = min v16 v17; "
            "v19: f64 = sub v7 v18; v20: f64 = abs v19; v21: f64 = div v20 v2; "
            "v22: f64 = mul v15 v21; v23: f64 = add v14 v22; v24: f32 = cast v23; store t1 v24");
}

TEST(CentredSums, AreFoundHoweverTheyAreWritten) {
  struct Row {
    const char* formula;
    int squares, means;  // that are corrected
    int passes;
  };
  constexpr Row kRows[] = {
      {"y = var(x_f32)", 1, 0, 2},
      {"y = var(x_i8)", 1, 0, 2},
      {"y = sum((x_f32 - mean(x_f32)) ** 2)", 1, 0, 2},
      {"d = x_f32 - mean(x_f32); y = sum(d * d) / (extent(1) - 1)", 1, 0, 2},
      {"y = (x_f16 - mean(x_f16)) * rsqrt(var(x_f16) + 1e-5)", 1, 1, 2},
      {"y = mean(x_f32) + var(x_f32)", 1, 1, 2},
      {"y = var(x_f32) + var(x_f32, axis=0)", 2, 0, 2},
      {"t = (x_f32 - mean(x_f32)) * rsqrt(var(x_f32) + 1); y = t - mean(t) + var(t)", 2, 2, 4},
      // Other values that are combined use the corrected mean too, which takes a separate pass.
      {"d = x_f32 - mean(x_f32); y = d * rsqrt(mean(d * d)) - max(d)", 1, 1, 3},
      // Others are left alone.
      {"y = mean(x_f32)", 0, 0, 1},
      {"y = mean(x_f32 * x_f32)", 0, 0, 1},
      {"y = sum((x_f32 - max(x_f32)) ** 2)", 0, 0, 2},
      {"y = sum((x_f32 - mean(x_f32)) ** 2, axis=0)", 0, 0, 2},
      {"y = sum((x_f32 - mean(x_f64)) ** 2)", 0, 0, 2},
      {"y = sum(abs(x_f32 - mean(x_f32)))", 0, 0, 2},
      {"y = sum((x_f32 - sum(x_f32) / 7) ** 2)", 0, 0, 2},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.formula);
    const Program program = program_of(row.formula);
    EXPECT_EQ(corrections(program, Correction::Of::squares), row.squares);
    EXPECT_EQ(corrections(program, Correction::Of::mean), row.means);
    EXPECT_EQ(std::ranges::max(passes_before(program, rescaled_sums(program))), row.passes);
  }
}

TEST(CentredSums, SayWhatTheyAreMadeOf) {
  const Program program = program_of("y = var(x_f32)");
  const auto found = find_correction(program, 15);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->value, 0);
  EXPECT_EQ(found->sum, 6);
  EXPECT_EQ(found->squares, 7);
  EXPECT_EQ(found->mean, 3);
  EXPECT_EQ(found->count, 2);
}

TEST(CentredSums, RefuseAProgramThatIsTooLarge) {
  std::string formula = "t0 = x_f32 + alpha";
  for (int i = 1; i < 400; ++i) {
    const std::string before = "t" + std::to_string(i - 1);
    formula += "; t" + std::to_string(i) + " = sqrt(abs(" + before + "))";
  }
  for (int i = 0; i < 120; ++i) {
    formula += "; v" + std::to_string(i) + " = var(t" + std::to_string(i) + ")";
  }
  formula += "; y = t399";
  for (int i = 0; i < 120; ++i) formula += " + v" + std::to_string(i);
  const std::string what = refusal(formula, [&] {
    Scope scope = scope_for(formula);
    scope.rank = 2;
    return scope;
  }());
  EXPECT_NE(what.find("more than 1000 divisions and functions"), std::string::npos) << what;
}

// One division per row is not approximated in narrow types either: the mean of a constant is exact.
TEST(CentredSums, NarrowMeansAreDividedAsFloats) {
  const Program program = program_of("y = mean(x_bf16) / x_bf16");
  const auto division_of = [&](NodeId id) { return emit_function(program, id); };
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    if (program.nodes[i].op != Op::div) continue;
    const auto id = static_cast<NodeId>(i);
    const bool by_extent =
        program.nodes[static_cast<std::size_t>(program.nodes[i].args[1])].op == Op::extent;
    EXPECT_EQ(division_of(id), by_extent ? "math::div_by_whole" : "math::fast_div");
  }
}

}  // namespace
}  // namespace tilejit::expr
