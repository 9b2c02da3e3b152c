// Formulas with products: the steps that they become, and what is refused.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formula/product.hpp"
#include "support/tensor_list.hpp"
#include "tilejit/error.hpp"

namespace tilejit::formula {
namespace {

std::string shape_text(const std::vector<Dim>& shape) {
  std::string text;
  for (const Dim& extent : shape) text += (text.empty() ? "" : ",") + to_string(extent);
  return "(" + text + ")";
}

/// "operand0 bf16 (M,K) from x; y f32 (M,N) from operand0 @ w, x".
std::string steps_text(const Analysis& analysis) {
  std::string text;
  for (const Step& step : analysis.steps) {
    std::string outputs, inputs;
    const bool multiplies = has_product(step.analysis.program);
    for (std::size_t t = 0; t < step.op.tensors.size(); ++t) {
      const Tensor& tensor = step.op.tensors[t];
      const Access access = step.analysis.access[t];
      if (access != Access::in) {
        outputs += (outputs.empty() ? "" : ", ") + tensor.name + " ";
        outputs += to_string(tensor.dtype);
      }
      const std::string between = multiplies && t == 1 ? " @ " : inputs.empty() ? "" : ", ";
      if (access != Access::out) inputs += between + tensor.name;
    }
    text += (text.empty() ? "" : "; ") + outputs + " " + shape_text(step.analysis.shape) +
            " from " + inputs;
  }
  return text;
}

struct StepRow {
  const char* tensors;
  const char* formula;
  const char* steps;
};

TEST(Steps, AreOneForWhatAKernelComputes) {
  const StepRow rows[] = {
      {"a (M,K); b (K,N); d (M,N)", "d = a @ b", "d f32 (M,N) from a @ b"},
      {"a (M,K); b (K,N); c N; d (M,N)", "d = gelu(a @ b + c) * 2", "d f32 (M,N) from a @ b, c"},
      {"a (M,K); b (K,N); d (M,N); e (M,N)", "p = a @ b; d = relu(p); e = p * p",
       "d f32, e f32 (M,N) from a @ b"},
      {"a (M,K); b (K,N); d (M,N); e (M,N)", "d = a @ b; e = d * 2",
       "d f32, e f32 (M,N) from a @ b"},
      {"a (M,K); b (K,N); d (M,N) inout", "d = a @ b + d", "d f32 (M,N) from a @ b, d"},
      {"x (K,M); d (M,M)", "d = x.T @ x", "d f32 (M,M) from x @ x"},
      {"x (M,M); d (M,M)", "d = x @ x + x", "d f32 (M,M) from x @ x, x"},
      {"a (B,M,K); b (K,N); d (B,M,N)", "d = a @ b", "d f32 (B,M,N) from a @ b"},
      {"a (M,M); b (M,M); d (M,M)", "d = where(iota(0) >= iota(1), a @ b, 0)",
       "d f32 (M,M) from a @ b"},
      {"a (M,K); b (K,N); d (M,N)", "d = tf32(a) @ tf32(b)", "d f32 (M,N) from a @ b"},
  };
  for (const StepRow& row : rows) {
    SCOPED_TRACE(row.formula);
    EXPECT_EQ(steps_text(analyze(test::operation(row.tensors, row.formula))), row.steps);
  }
}

TEST(Steps, AreSeveralWhereAKernelCannot) {
  const StepRow rows[] = {
      {"a (M,K); b (K,N); d (M,N)", "d = bf16(a) @ bf16(b)",
       "operand0 bf16 (M,K) from a; operand1 bf16 (K,N) from b; d f32 (M,N) from operand0 @ "
       "operand1"},
      {"x (M,K); g K; w (K,K); y (M,K)", "h = x * rsqrt(mean(x * x) + 1) * g; y = h @ w + x",
       "operand0 f32 (M,K) from x, g; y f32 (M,K) from operand0 @ w, x"},
      {"q (M,K); k (N,K); v (N,L); y (M,L)", "e = exp(q @ k.T); y = (e / sum(e)) @ v",
       "product0 f32 (M,N) from q @ k; operand1 f32 (M,N) from product0; y f32 (M,L) from operand1 "
       "@ v"},
      {"x (M,K); w (K,N); a (K,R); b (R,N); y (M,N)", "y = x @ w + bf16(x @ a) @ bf16(b)",
       "product0 f32 (M,N) from x @ w; operand1 bf16 (M,R) from x @ a; operand2 bf16 (R,N) from b; "
       "y f32 (M,N) from operand1 @ operand2, product0"},
      {"a (M,K); b (K,N); y M", "y = sum(a @ b)",
       "product0 f32 (M,N) from a @ b; y f32 (M,N) from product0"},
      {"a (1,K); b (K,N); c (M,N); y (M,N)", "y = a @ b + c",
       "product0 f32 (1,N) from a @ b; y f32 (M,N) from product0, c"},
      {"x (M,K); u (K,N); v (K,N); w (K,N); q (M,N); k (M,N); s (M,N)",
       "h = x + 1; q = h @ u; k = h @ v; s = h @ w",
       "operand0 f32 (M,K) from x; q f32 (M,N) from operand0 @ u; k f32 (M,N) from operand0 @ v; "
       "s f32 (M,N) from operand0 @ w"},
      {"a (M,K); b (K,N); c (N,L); h (M,N); y (M,L)", "h = a @ b; y = h @ c",
       "h f32 (M,N) from a @ b; y f32 (M,L) from h @ c"},
      {"a (M,K); b (K,N); c (K,N); d (M,N); e (M,N)", "p = a @ b; d = p; e = p + a @ c",
       "product0 f32 (M,N) from a @ b; d f32 (M,N) from product0; e f32 (M,N) from a @ c, "
       "product0"},
      {"x (M,M) inout; w (M,M)", "x = x @ w",
       "product0 f32 (M,M) from x @ w; x f32 (M,M) from product0"},
      {"x (M,M) inout; w (M,M); y (M,M)", "t = x * 2; x = relu(x); y = x @ w + t",
       "copy0 f32 (M,M) from x; x f32 (M,M) from x; y f32 (M,M) from x @ w, copy0"},
      {"x (M,M) inout; y (M,M); w (M,M)", "x = x + x.T; y = x @ w",
       "copy0 f32 (M,M) from x; x f32 (M,M) from x, copy0; y f32 (M,M) from x @ w"},
      {"a (M,K); b (K,N); x (M,K); y (M,N); s (M,K); m M", "y = a @ b; s = x * 2; m = max(x)",
       "y f32 (M,N) from a @ b; s f32, m f32 (M,K) from x"},
      {"x (M,K); u (K,N); v (K,N); q (M,N); k (M,N)", "q = (x - sum(x)) @ u; k = (x - sum(x)) @ v",
       "operand0 f32 (M,K) from x; q f32 (M,N) from operand0 @ u; k f32 (M,N) from operand0 @ v"},
      {"x (M,K); u (K,N); q (M,N); k (M,N)", "q = (x - sum(x)) @ u; k = (x - sum(x)) @ u * 2",
       "operand0 f32 (M,K) from x; product1 f32 (M,N) from operand0 @ u; q f32 (M,N) from "
       "product1; "
       "k f32 (M,N) from product1"},
      // Joined with v, y would wait for u and u for v.
      {"x (M,M); a (M,M); b (M,M); v (M,M); z (M,M); u (M,M); y (M,M)",
       "v = x + 1; z = a @ b; u = z + v.T; y = z.T",
       "v f32 (M,M) from x; z f32, u f32 (M,M) from a @ b, v; y f32 (M,M) from z"},
      {"y (M,M); u (M,M); z (1,M); s (M,M); x (M,M)", "y = x * 2; z = u @ y; s = y + z", ""},
      {"y (M,M); u (1,M); z (1,M); s (M,M); x (M,M)", "y = x * 2; z = u @ y; s = y + z",
       "y f32 (M,M) from x; z f32 (1,M) from u @ y; s f32 (M,M) from y, z"},
  };
  for (const StepRow& row : rows) {
    SCOPED_TRACE(row.formula);
    try {
      EXPECT_EQ(steps_text(analyze(test::operation(row.tensors, row.formula))), row.steps);
    } catch (const Error& error) {
      EXPECT_STREQ(row.steps, "") << error.what();
    }
  }
}

// What is the same along K multiplies sums, and the operand is the tensor.
TEST(Steps, MoveFactorsBehindProducts) {
  const StepRow rows[] = {
      {"x (M,K); w (K,N); y (M,N)", "y = (x * rsqrt(mean(x * x) + 1)) @ w",
       "factor0 f32 (M,K) from x; y f32 (M,N) from x @ w, factor0"},
      {"x (M,K); w (K,N); y (M,N)", "h = x / sum(x); y = relu(h @ w + 1) * 2",
       "factor0 f32 (M,K) from x; y f32 (M,N) from x @ w, factor0"},
      {"x (M,K); u (K,N); v (K,L); y (M,N); z (M,L)", "h = 2 * x / sum(x); y = h @ u; z = h @ v",
       "factor0 f32 (M,K) from x; y f32 (M,N) from x @ u, factor0; z f32 (M,L) from x @ v, "
       "factor0"},
      {"x (M,K); w (K,N); y (M,N)", "y = x @ (w / sum(w, axis=0))",
       "factor0 f32 (K,N) from w; y f32 (M,N) from x @ w, factor0"},
      {"x (M,K); r (M,1); w (K,N); c N; y (M,N)", "y = (x * r) @ (w * c * 2)",
       "y f32 (M,N) from x @ w, r, c"},
      {"x (B,M,K); r (B,1,1); w (K,N); y (B,M,N)", "y = (x * exp(r)) @ w",
       "y f32 (B,M,N) from x @ w, r"},
      // These differ along K, or are made of more than the row.
      {"x (M,K); g K; w (K,N); y (M,N)", "y = (x * g) @ w",
       "operand0 f32 (M,K) from x, g; y f32 (M,N) from operand0 @ w"},
      {"x (M,K); w (K,N); y (M,N)", "y = (x / sum(x, axis=0)) @ w",
       "operand0 f32 (M,K) from x; y f32 (M,N) from operand0 @ w"},
      {"x (M,K); w (K,N); y (M,N)", "y = (x / sum(x, axis=(0,1))) @ w",
       "operand0 f32 (M,K) from x; y f32 (M,N) from operand0 @ w"},
      {"x (M,K); w (K,N); y (M,N)", "y = (x * f32(iota(0))) @ w",
       "operand0 f32 (M,K) from x; y f32 (M,N) from operand0 @ w"},
      {"x (M,K); w (K,N); y (M,N)", "y = (2 / x) @ w",
       "operand0 f32 (M,K) from x; y f32 (M,N) from operand0 @ w"},
      {"x (M,K); w (K,N); y (M,N)", "y = bf16(x * 2) @ bf16(w)",
       "operand0 bf16 (M,K) from x; operand1 bf16 (K,N) from w; y f32 (M,N) from operand0 @ "
       "operand1"},
      {"x (M,K) inout; w (K,N); y (M,N)", "x = x + 1; y = (x * 2) @ w",
       "x f32 (M,K) from x; operand0 f32 (M,K) from x; y f32 (M,N) from operand0 @ w"},
  };
  for (const StepRow& row : rows) {
    SCOPED_TRACE(row.formula);
    EXPECT_EQ(steps_text(analyze(test::operation(row.tensors, row.formula))), row.steps);
  }
}

// A cast of the whole operand says the type in which it is multiplied.
TEST(Steps, MoveFactorsOutOfTheCastOfAnOperand) {
  Fused op = test::operation("x (M,K); w (K,N); y (M,N)",
                             "h = x * rsqrt(mean(f32(x) * f32(x)) + 0.5); y = bf16(h) @ w");
  op.tensors[0].dtype = op.tensors[1].dtype = bf16;
  EXPECT_EQ(steps_text(analyze(op)), "factor0 f32 (M,K) from x; y f32 (M,N) from x @ w, factor0");
  op.formula = "y = (x * bf16(rsqrt(mean(f32(x) * f32(x)) + 0.5))) @ w";
  EXPECT_EQ(steps_text(analyze(op)), "factor0 bf16 (M,K) from x; y f32 (M,N) from x @ w, factor0")
      << "memory of the cast's type, whose store rounds";
  op.formula = "h = bf16(x * 1.5) * 1.25; y = bf16(h) @ w";
  EXPECT_EQ(steps_text(analyze(op)), "operand0 bf16 (M,K) from x; y f32 (M,N) from operand0 @ w")
      << "a cast within it rounds";
}

// Each of its values is read twice: paths are many, values are few.
TEST(Steps, MoveFactorsThatAreMadeOfManyValues) {
  std::string formula = "a0 = r + r; m0 = mean(x)";
  for (int i = 1; i < 60; ++i) {
    const std::string one = std::to_string(i), before = std::to_string(i - 1);
    for (const std::string name : {"a", "m"})
      formula += "; " + name + one + " = " + name + before + " + " + name + before;
  }
  formula += "; y = (x * a59 * m59) @ w";
  EXPECT_EQ(
      steps_text(analyze(test::operation("x (M,K); r (M,1); w (K,N); y (M,N)", formula.c_str()))),
      "factor0 f32 (M,K) from x; y f32 (M,N) from x @ w, r, factor0");
}

TEST(Steps, SayWhyTheyAreTheirOwn) {
  const Analysis analysis =
      analyze(test::operation("x (M,K); w (K,N); y M", "y = sum((x + 1) @ w)"));
  ASSERT_EQ(analysis.steps.size(), 3U);
  EXPECT_EQ(analysis.steps[0].why,
            "the left operand of a product is computed, in f32; a product computes on its way only "
            "functions of one tensor that few tiles read");
  EXPECT_EQ(analysis.steps[1].why,
            "it is no part of the step that reads it: reductions and scans need whole rows of it");
  EXPECT_EQ(analysis.steps[2].why, "");
  EXPECT_EQ(analysis.access, (std::vector{Access::in, Access::in, Access::out}));
}

TEST(Steps, HaveOneProduct) {
  const Fused op = test::operation("x (B,K,M); w (1,K,N); d (B,M,N)", "d = x.T @ w");
  const Step step = analyze(op).steps.at(0);
  const Product product = product_of(step.op, step.analysis);
  EXPECT_EQ(product.batch, std::vector<Dim>{"B"});
  EXPECT_EQ(product.m, Dim("M"));
  EXPECT_EQ(product.n, Dim("N"));
  EXPECT_EQ(product.k, Dim("K"));
  EXPECT_EQ(product.accumulator, f32);
  EXPECT_EQ(product.a.inner, (std::vector<Mode>{{"K", "M"}}));
  EXPECT_EQ(product.a.outer, (std::vector<Mode>{{"M", 1}}));
  EXPECT_TRUE(product.b.batch.at(0).empty()) << "w repeats";
  EXPECT_EQ(product.b.outer, (std::vector<Mode>{{"N", 1}}));
}

struct RefusedProduct {
  const char* tensors;
  const char* formula;
  const char* message;
};

TEST(Steps, RefuseWithACaret) {
  const RefusedProduct rows[] = {
      {"a (M,K); b (L,N); d (M,N)", "d = a @ b",
       "formula line 1: the extents K and L do not meet in (M,K) @ (L,N): the last mode on the "
       "left "
       "is added up with the last but one on the right\n    d = a @ b\n          ^"},
      {"a K; b (K,N); d (1,N)", "d = a @ b",
       "formula line 1: '@' takes two matrices, and the left operand has one mode: give it the "
       "shape "
       "(1,K)\n    d = a @ b\n          ^"},
      {"a (M,K); b K; d (M,1)", "d = a @ b",
       "formula line 1: '@' takes two matrices, and the right operand has one mode: give it the "
       "shape "
       "(K,1)\n    d = a @ b\n          ^"},
      {"a (B,M,K); b (C,K,N); d (B,M,N)", "d = a @ b",
       "formula line 1: the batches do not meet in (B,M,K) @ (C,K,N): extents must be equal or 1, "
       "aligned at the last mode\n    d = a @ b\n          ^"},
      {"a (M,K); b (K,N); c M; d (M,N)", "d = a @ b + c",
       "formula line 1: 'c' of shape (M) does not meet the product of shape (M,N) here: extents "
       "must "
       "be equal or 1, aligned at the last mode\n    d = a @ b + c\n                ^"},
      {"x K; d (K,K)", "d = x.T @ x",
       "formula line 1: '.T' swaps two modes, and 'x' has one: give it the shape (1,K) or (K,1)\n"
       "    d = x.T @ x\n        ^"},
      {"x (M,K); w (K,N); d (M,N); e (M,K)", "t = x / sum(x); d = t @ w; e = t @ w.T",
       "formula line 1: the extents K and N do not meet in (M,K) @ (N,K): the last mode on the "
       "left "
       "is added up with the last but one on the right\n    t = x / sum(x); d = t @ w; e = t @ w.T"
       "\n                                     ^"},
      {"x (M,1); w (1,N); d (M,N)", "s = sum(x); d = (x + s) @ w + s",
       "formula line 1: this counts the axes of its space and is used in two, (M,1) and (M,N): "
       "write "
       "it twice, under two names (reduce_sum)\n    s = sum(x); d = (x + s) @ w + s\n        ^"},
      {"a (M,K); b (K,N); d (M,N)", "d = sum(a @ b, axis=2)",
       "formula line 1: axis 2 is out of range: the operation has 2 axes, -2 to 1\n"
       "    d = sum(a @ b, axis=2)\n                        ^"},
  };
  for (const RefusedProduct& row : rows) {
    SCOPED_TRACE(row.formula);
    try {
      const Analysis analysis = analyze(test::operation(row.tensors, row.formula));
      ADD_FAILURE() << steps_text(analysis);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_formula);
      EXPECT_EQ(error.what(), std::string(row.message) + " (/formula)");
    }
  }
}

TEST(Steps, RefuseOutputsOfOtherShapes) {
  const RefusedProduct rows[] = {
      {"a (M,K); b (K,N); d (M,L)", "d = a @ b",
       "mode 1 of 'd' has extent L, but its value has N there"},
      {"a (M,K); b (K,N); d (N)", "d = a @ b", "'d' has shape (N)"},
      {"a (M,K); b (K,N); d (M,N):(0,1)", "d = a @ b", "stride 0"},
  };
  for (const RefusedProduct& row : rows) {
    SCOPED_TRACE(row.tensors);
    try {
      const Analysis analysis = analyze(test::operation(row.tensors, row.formula));
      ADD_FAILURE() << steps_text(analysis);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_spec);
      EXPECT_EQ(error.where(), "/tensors/d");
      EXPECT_NE(std::string(error.what()).find(row.message), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace tilejit::formula
