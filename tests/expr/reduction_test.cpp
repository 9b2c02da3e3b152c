#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "expr_support.hpp"

namespace tilejit::expr {
namespace {

TEST(Reduction, ProgramsSayWhatIsCombinedOverWhichAxes) {
  constexpr ProgramRow kRows[] = {
      {"y = sum(x_f32)", "v0: f32 = load t0; v1: f32 = reduce_sum v0 axes 2; store t1 v1"},
      {"y = max(x_f32, axis=0)", "v0: f32 = load t0; v1: f32 = reduce_max v0 axes 0; store t1 v1"},
      {"y = min(x_f32, axis=(0, -1))",
       "v0: f32 = load t0; v1: f32 = reduce_min v0 axes 0,2; store t1 v1"},
      {"y = prod(x_f32, axis=(-3,))",
       "v0: f32 = load t0; v1: f32 = reduce_prod v0 axes 0; store t1 v1"},
      {"y = mean(x_f32)",
       "v0: f32 = load t0; v1: f32 = reduce_sum v0 axes 2; v2: f32 = extent axes 2; "
       "v3: f32 = div v1 v2; store t1 v3"},
      {"y = iota(1) * extent((0, 2)) + x_f32 * 0",
       "v0: i64 = index axes 1; v1: i64 = extent axes 0,2; v2: i64 = mul v0 v1; "
       "v3: f32 = load t0; v4: f32 = constant 0; v5: f32 = mul v3 v4; v6: f32 = cast v2; "
       "v7: f32 = add v6 v5; store t1 v7"},
      {"y = any(x_f32 > 1) or all(x_f32)",
       "v0: f32 = load t0; v1: f32 = constant 1; v2: bool = gt v0 v1; "
       "v3: bool = reduce_any v2 axes 2; v4: bool = cast v0; v5: bool = reduce_all v4 axes 2; "
       "v6: bool = logical_or v3 v5; v7: f32 = cast v6; store t1 v7"},
  };
  for (const ProgramRow& row : kRows) {
    SCOPED_TRACE(row.formula);
    EXPECT_EQ(lines(row.formula), row.want);
  }
}

TEST(Reduction, TheDescriptorsAxesAreTheDefault) {
  EXPECT_EQ(lines("y = sum(x_f32)", 3, {0, -2}), lines("y = sum(x_f32, axis=(0, 1))"));
  EXPECT_EQ(lines("y = sum(x_f32)", 1), lines("y = sum(x_f32, axis=0)", 1));
}

// Both formulas mean the same.
constexpr ProgramRow kSame[] = {
    {"y = var(x_f32)", "m = mean(x_f32); y = mean((x_f32 - m) * (x_f32 - m))"},
    {"y = mean(x_i8)", "y = mean(f32(x_i8))"},
    {"y = sum(x_i8)", "y = sum(i64(x_i8))"},
    {"y = sum(x_bool)", "y = sum(i64(x_bool))"},
    {"y = prod(x_u16)", "y = prod(u64(x_u16))"},
    {"y = max(x_bool)", "y = max(i32(x_bool))"},
    {"y = argmax(x_bool)", "y = argmax(i32(x_bool))"},
    {"y = sum(x_f32, init=2)", "y = sum(x_f32) + 2"},
    {"y = sum(x_f32, init=alpha, axis=1)", "x = x_f32; a = alpha; y = sum(x, axis=1) + a"},
    {"y = sum(x_f32, init=-alpha)", "x = x_f32; a = -alpha; y = sum(x) + a"},
    {"y = prod(x_f32, init=2)", "y = prod(x_f32) * 2"},
    {"y = max(x_f32, init=0)", "y = max(max(x_f32), 0)"},
    {"y = min(x_f32, init=0)", "y = min(min(x_f32), 0)"},
    {"y = any(x_f32, init=true)", "y = any(x_f32) or true"},
    {"y = all(x_f32, init=alpha)", "x = x_f32; a = alpha; y = all(x) and a"},
    {"y = max(x_f32,\n axis = -1 # the last\n)", "y = max(x_f32)"},
    {"y = max(x_f32) + max(x_f32, axis=2)", "t = max(x_f32); y = t + t"},
    {"y = sum(max(x_f32, init=alpha, axis=0), axis=1)",
     "x = x_f32; a = alpha; t = max(max(x, axis=0), a); y = sum(t, axis=1)"},
};

TEST(Reduction, IsWhatItIsLoweredTo) {
  for (const ProgramRow& row : kSame) {
    SCOPED_TRACE(row.formula);
    EXPECT_EQ(lines(row.formula), lines(row.want));
  }
}

TEST(Reduction, TypesFollowTheArgument) {
  struct TypeRow {
    const char* formula;
    DType want;
  };
  constexpr TypeRow kRows[] = {
      {"y = sum(x_f16)", f16},    {"y = sum(x_tf32)", tf32}, {"y = prod(x_i32)", i64},
      {"y = sum(x_u8)", u64},     {"y = max(x_i8)", i8},     {"y = min(x_bool)", i32},
      {"y = mean(x_bf16)", bf16}, {"y = var(x_u64)", f32},   {"y = argmin(x_f16)", i64},
      {"y = any(x_f32)", b8},     {"y = var(x_f64)", f64},
  };
  for (const TypeRow& row : kRows) {
    SCOPED_TRACE(row.formula);
    const Program program = compile_formula(row.formula, scope_for(row.formula, row.want));
    EXPECT_EQ(program.nodes[static_cast<std::size_t>(program.stores[0].value)].type, row.want);
    EXPECT_NE(program.nodes.back().op, Op::cast) << program_text(program);
  }
}

TEST(Reduction, FunctionsMayContainThem) {
  Scope scope = scope_of_rank("x_f32", 2);
  scope.functions = {{"softmax", {"v"}, "exp(v - max(v)) / sum(exp(v - max(v)), axis=1)"}};
  const std::string formula = "e = exp(x_f32 - max(x_f32)); y = e / sum(e)";
  EXPECT_EQ(program_text(compile_formula("y = softmax(x_f32)", scope)), lines(formula, 2));
}

TEST(Reduction, OutputsAndTemporariesAreReducedToo) {
  EXPECT_EQ(lines("t = sum(x_f32); y = t; "), lines("y = sum(x_f32)"));
  const Scope scope{.tensors = {{"x", f32}, {"y", f16}, {"z", f32}}, .rank = 2};
  EXPECT_EQ(program_text(compile_formula("y = x; z = sum(y)", scope)),
            "v0: f32 = load t0; v1: f16 = cast v0; v2: f16 = reduce_sum v1 axes 1; "
            "v3: f32 = cast v2; store t1 v1; store t2 v3");
}

TEST(Reduction, RefusesWithTheReason) {
  constexpr ProgramRow kRows[] = {
      {"y = sum(3)", "'sum' of a literal has no dtype: cast it first, e.g. sum(i64(3))"},
      {"y = sum()", "'sum' takes 1 argument, not 0"},
      {"y = sum(x_f32, 1)", "'sum' takes 1 argument, not 2"},
      {"y = max(x_f32, 1, axis=0)", "'max' takes 1 argument beside axis= and init=, not 2"},
      {"y = sum(axis=0)", "'sum' takes 1 argument, not 0"},
      {"y = sum(axis=0, x_f32)", "a keyword argument stands behind the others"},
      {"y = sum(x_f32, axes=0)", "'sum' has no keyword 'axes'; it takes axis= and init="},
      {"y = sum(x_f32, axis=0, axis=1)", "the keyword 'axis' is given twice"},
      {"y = sum(x_f32, init=0, init=1)", "the keyword 'init' is given twice"},
      {"y = sum(x_f32, axis=2)",
       "axis 2 is out of range: the operation has 2 axes, -2 to 1\n"
       "    y = sum(x_f32, axis=2)\n                        ^"},
      {"y = sum(x_f32, axis=-3)",
       "axis -3 is out of range: the operation has 2 axes, -2 to 1\n"
       "    y = sum(x_f32, axis=-3)\n                        ^"},
      {"y = sum(x_f32, axis=99999999999)", "there is no such axis"},
      {"y = sum(x_f32, axis=(0, -2))",
       "axis -2 is named twice\n"
       "    y = sum(x_f32, axis=(0, -2))\n                            ^"},
      {"y = sum(x_f32, axis=alpha)",
       "expected an axis, an integer literal such as 0 or -1, found 'alpha'"},
      {"y = sum(x_f32, axis=1.0)", "expected an axis, an integer literal"},
      {"y = sum(x_f32, axis=())", "expected an axis, an integer literal"},
      {"y = sum(x_f32, axis=(0, 1)", "expected ')' to close the '(' of line 1"},
      {"y = mean(x_f32, init=0)", "'mean' takes no init="},
      {"y = argmax(x_f32, init=0)", "'argmax' takes no init="},
      {"y = sum(x_f32, init=x_f32)", "init= takes a literal or a scalar"},
      {"y = max(x_i8, init=300)", "300 does not fit i8"},
      {"y = exp(x_f32, axis=0)", "'exp' has no keyword 'axis': it computes element by element"},
      {"y = sum(x_f32 = 1)", "'sum' has no keyword 'x_f32'"},
      {"y = iota()", "expected an axis, an integer literal"},
      {"y = iota((0, 1))", "'iota' takes one axis"},
      {"y = iota(x_f32)", "expected an axis, an integer literal"},
      {"y = extent(2)", "axis 2 is out of range"},
      {"y = iota + 1", "expected '(': 'iota' is a function of the language"},
      {"y = sum + 1", "expected '(': 'sum' is a function of the language"},
      {"y = argmix(x_f32)", "unknown function 'argmix'; did you mean 'argmin'?"},
      {"mean = x_f32", "'mean' is a word of the language"},
  };
  for (const ProgramRow& row : kRows) {
    SCOPED_TRACE(row.formula);
    const std::string what = refusal(row.formula, scope_of_rank(row.formula, 2));
    EXPECT_NE(what.find(row.want), std::string::npos) << what;
  }
}

TEST(Reduction, RefusesSpacesOfTooManyAxesOrNone) {
  const auto message = [](int rank) {
    return refusal("y = sum(x_f32)", scope_of_rank("x_f32", rank));
  };
  EXPECT_NE(message(33).find("has 33 axes; reductions, iota and extent work with at most 32"),
            std::string::npos);
  EXPECT_NE(message(0).find("axis -1 is out of range: the operation has no axes"),
            std::string::npos);
  EXPECT_NO_THROW((void)compile_formula("y = sum(x_f32, axis=31)", scope_of_rank("x_f32", 32)));
}

TEST(Reduction, PlacesFaultsOfFunctionsInTheirText) {
  Scope scope = scope_of_rank("x_f32", 2);
  scope.functions = {{"total", {"v"}, "sum(v, axis=5)"}};
  const std::string what = refusal("y = total(x_f32)", scope, "/functions/total/expr");
  EXPECT_NE(what.find("    sum(v, axis=5)\n                ^"), std::string::npos) << what;
}

TEST(Reduction, AxesOfValues) {
  struct AxesRow {
    const char* formula;  // of x_f32, which varies along axes 0 and 1, and x_f64, along axis 1
    ValueAxes want;       // of the value that is stored
  };
  constexpr AxesRow kRows[] = {
      {"y = x_f32 + x_f64", {.varying = 3}},
      {"y = x_f64 + 0 * sum(x_f32, axis=(0, 1))", {.varying = 2, .reduced = 1}},
      {"y = x_f64 * 2 + alpha", {.varying = 2}},
      {"y = sum(x_f32)", {.varying = 1, .reduced = 2}},
      {"y = sum(x_f32, axis=(0, 1)) * alpha", {.varying = 0, .reduced = 3}},
      {"y = sum(x_f32) - x_f64", {.varying = 3}},
      {"y = sum(sum(x_f32) - x_f64, axis=0)", {.varying = 2, .reduced = 1}},
      {"y = iota(0) + 0 * sum(x_f32)", {.varying = 1, .reduced = 2}},
      {"y = extent(0)", {}},
      {"y = 1", {}},
  };
  for (const AxesRow& row : kRows) {
    SCOPED_TRACE(row.formula);
    const std::string formula(row.formula);
    const Scope scope = scope_of_rank(formula, 2);
    const Program program = compile_formula(formula, scope);
    std::vector<std::uint32_t> tensors;
    for (const TensorSymbol& tensor : scope.tensors) tensors.push_back(tensor.dtype == f64 ? 2 : 3);
    const auto axes = axes_of_values(program, tensors);
    EXPECT_EQ(axes[static_cast<std::size_t>(program.stores[0].value)], row.want)
        << axes.back().varying << " " << axes.back().reduced;
  }
}

TEST(Reduction, IsNotEmittedAsTheWorkOfOneElement) {
  for (const char* formula : {"y = sum(x_f32)", "y = iota(0) + x_f32", "y = extent(0) * x_f32"}) {
    try {
      (void)emit_cuda(compile_formula(formula, scope_for(formula)));
      ADD_FAILURE() << formula;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
    }
  }
}

}  // namespace
}  // namespace tilejit::expr
