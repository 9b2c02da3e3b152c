#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "expr_support.hpp"

namespace tilejit::expr {
namespace {

TEST(Scan, ProgramsSayAlongWhichAxisAndHow) {
  constexpr ProgramRow kRows[] = {
      {"y = cumsum(x_f32)", "v0: f32 = load t0; v1: f32 = scan_sum v0 axes 2; store t1 v1"},
      {"y = cumprod(x_f32, axis=0)",
       "v0: f32 = load t0; v1: f32 = scan_prod v0 axes 0; store t1 v1"},
      {"y = cummax(x_f32, axis=(-2,), reverse=true)",
       "v0: f32 = load t0; v1: f32 = scan_max v0 axes 1 reverse; store t1 v1"},
      {"y = cummin(x_f32, exclusive=true, axis=1, reverse=false)",
       "v0: f32 = load t0; v1: f32 = scan_min v0 axes 1 exclusive; store t1 v1"},
      {"y = cumsum(x_f32, exclusive=true, reverse=true)",
       "v0: f32 = load t0; v1: f32 = scan_sum v0 axes 2 exclusive reverse; store t1 v1"},
      {"y = cumsum(x_f32) - cumsum(x_f32, exclusive=true)",
       "v0: f32 = load t0; v1: f32 = scan_sum v0 axes 2; v2: f32 = scan_sum v0 axes 2 exclusive; "
       "v3: f32 = sub v1 v2; store t1 v3"},
  };
  for (const ProgramRow& row : kRows) {
    SCOPED_TRACE(row.formula);
    EXPECT_EQ(lines(row.formula), row.want);
  }
  EXPECT_EQ(lines("y = cumsum(x_f32)", 3, {-3}), lines("y = cumsum(x_f32, axis=0)"));
  EXPECT_EQ(lines("y = cumsum(x_f32) + cumsum(x_f32, reverse=false)"),
            lines("t = cumsum(x_f32, axis=-1); y = t + t"));
}

TEST(Scan, TypesFollowTheArgument) {
  struct TypeRow {
    const char* formula;
    DType want;
  };
  constexpr TypeRow kRows[] = {
      {"y = cumsum(x_f16)", f16}, {"y = cumprod(x_tf32)", tf32}, {"y = cumsum(x_f64)", f64},
      {"y = cumsum(x_i8)", i64},  {"y = cumsum(x_bool)", i64},   {"y = cumprod(x_u8)", u64},
      {"y = cummax(x_i16)", i16}, {"y = cummin(x_bool)", i32},   {"y = cummax(x_bf16)", bf16},
  };
  for (const TypeRow& row : kRows) {
    SCOPED_TRACE(row.formula);
    const Program program = compile_formula(row.formula, scope_for(row.formula, row.want));
    EXPECT_EQ(program.nodes[static_cast<std::size_t>(program.stores[0].value)].type, row.want);
    EXPECT_NE(program.nodes.back().op, Op::cast) << program_text(program);
  }
}

TEST(Scan, FunctionsMayContainThem) {
  Scope scope = scope_of_rank("x_f32", 2);
  scope.functions = {{"share", {"v"}, "cumsum(v) / sum(v)"}};
  EXPECT_EQ(program_text(compile_formula("y = share(x_f32)", scope)),
            lines("y = cumsum(x_f32) / sum(x_f32)", 2));
}

TEST(Scan, VariesAlongItsAxis) {
  const std::string formula = "y = cumsum(sum(x_f32), axis=1)";
  const Program program = compile_formula(formula, scope_of_rank(formula, 2));
  const std::uint32_t tensors[] = {3, 3};
  const auto axes = axes_of_values(program, tensors);
  EXPECT_EQ(axes.back(), (ValueAxes{.varying = 3, .reduced = 0}));
}

TEST(Scan, RefusesWithTheReason) {
  constexpr ProgramRow kRows[] = {
      {"y = cumsum(3)", "'cumsum' of a literal has no dtype: cast it first, e.g. cumsum(i64(3))"},
      {"y = cumsum()", "'cumsum' takes 1 argument, not 0"},
      {"y = cumsum(x_f32, 1)",
       "'cumsum' takes 1 argument, not 2\n    y = cumsum(x_f32, 1)\n        ^"},
      {"y = cumsum(axis=0, x_f32)", "a keyword argument stands behind the others"},
      {"y = cumsum(x_f32, axis=(0, 1))",
       "'cumsum' takes one axis\n"
       "    y = cumsum(x_f32, axis=(0, 1))\n                               ^"},
      {"y = cumsum(x_f32, axis=2)", "axis 2 is out of range: the operation has 2 axes, -2 to 1"},
      {"y = cumsum(x_f32, init=0)",
       "'cumsum' has no keyword 'init'; it takes axis=, exclusive= and reverse="},
      {"y = sum(x_f32, reverse=true)", "'sum' has no keyword 'reverse'; it takes axis= and init="},
      {"y = cumsum(x_f32, reverse=1)",
       "reverse= is true or false, found '1'\n"
       "    y = cumsum(x_f32, reverse=1)\n                              ^"},
      {"y = cumsum(x_f32, exclusive=alpha)", "exclusive= is true or false, found 'alpha'"},
      {"y = cumsum(x_f32, reverse=true, reverse=true)", "the keyword 'reverse' is given twice"},
      {"y = cumsum(x_f32, axis=0, axis=0)", "the keyword 'axis' is given twice"},
      {"y = cumsun(x_f32)", "unknown function 'cumsun'; did you mean 'cumsum'?"},
      {"y = cumprod + 1", "expected '(': 'cumprod' is a function of the language"},
      {"cummax = x_f32", "'cummax' is a word of the language"},
  };
  for (const ProgramRow& row : kRows) {
    SCOPED_TRACE(row.formula);
    const std::string what = refusal(row.formula, scope_of_rank(row.formula, 2));
    EXPECT_NE(what.find(row.want), std::string::npos) << what;
  }
  EXPECT_NE(refusal("y = cumsum(x_f32)", scope_of_rank("x_f32", 3, {0, 1}))
                .find("'cumsum' takes one axis, but the operation's \"axis\" has 2: name one with "
                      "axis="),
            std::string::npos);
}

TEST(Scan, IsNotEmittedAsTheWorkOfOneElement) {
  const char* const kFormula = "y = cumsum(x_f32)";
  try {
    (void)emit_cuda(compile_formula(kFormula, scope_for(kFormula)));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
  }
}

}  // namespace
}  // namespace tilejit::expr
