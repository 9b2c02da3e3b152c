// Light kernels, run on the CPU against the reference: rows and columns, reduced and scanned, with
// one loop for all passes.
#include <algorithm>

#include "emulation/emulated.hpp"

namespace tilejit::test {
namespace {

struct Case {
  const char* what;
  std::vector<Tensor> tensors;
  const char* formula;
  SymbolValues symbols = {};
};

std::vector<Case> cases() {
  return {
      {"short rows, two results",
       {{"x", f32, "(70,9):(9,1)"}, {"m", f32, "70:1"}, {"w", i64, "70:1"}},
       "m = mean(x); w = argmax(x)"},
      {"a reduction of another's result",
       {{"x", f32, "(5,1000):(1000,1)"}, {"y", f32, "(5,1000):(1000,1)"}},
       "y = (x - mean(x)) * rsqrt(var(x) + 0.001)"},
      {"in place, with weights",
       {{"x", bf16, "(3,4099):(4100,1)", Access::inout}, {"b", f32, "(1,4099):(0,1)"}},
       "e = exp(x - max(x)); x = e / sum(e) * b"},
      {"a long row, added up in chains", {{"x", f32, "300000:1"}, {"y", f32, "1:1"}}, "y = sum(x)"},
      {"rows of unknown length",
       {{"x", f32, "(M,N):(N,1)"}, {"y", f32, "(M,N):(N,1)"}, {"w", f32, "M:1"}},
       "w = sum(x); y = x / (sum(abs(x)) + 1)",
       {{"M", 3}, {"N", 40001}}},
      {"a row's result beside what it is made of",
       {{"x", f32, "(6,300):(300,1)"}, {"w", f32, "(6,1):(1,1)", Access::inout}},
       "w = sum(x * w)"},
      {"columns", {{"x", f32, "(3000,70):(70,1)"}, {"y", f32, "70:1"}}, "y = sum(x, axis=0)"},
      {"columns of an unknown number",
       {{"x", i32, "(M,N):(N,1)"}, {"y", i64, "N:1"}, {"z", i32, "N:1"}},
       "y = sum(x, axis=0); z = argmin(x, axis=0)",
       {{"M", 130}, {"N", 45}}},
      {"the middle of three axes",
       {{"x", f64, "(4,33,20):(660,20,1)"}, {"y", f64, "(4,33,20):(660,20,1)"}},
       "y = x - max(x, axis=1)"},
      {"nothing", {{"x", f32, "(0,5):(5,1)"}, {"w", f32, "0:1"}}, "w = sum(x)"},
      {"rows of nothing",
       {{"x", f32, "(M,N):(N,1)"}, {"w", f32, "M:1"}},
       "w = max(x)",
       {{"M", 3}, {"N", 0}}},
      {"a scan in place", {{"x", f32, "(70,3):(3,1)", Access::inout}}, "x = cumsum(x)"},
      {"a scan with reductions",
       {{"x", bf16, "(3,4096):(4096,1)"}, {"y", f32, "(3,4096):(4096,1)"}, {"w", f32, "3:1"}},
       "e = exp(x - max(x)); w = sum(e); y = cumsum(e * (1 / sum(e)))"},
      {"a scan backwards and exclusive, ragged",
       {{"x", i16, "(37,101):(101,1)"}, {"y", i64, "(37,101):(101,1)"}},
       "y = cumsum(x, reverse=true, exclusive=true)"},
      {"a scan of a long row",
       {{"x", f32, "70001:1"}, {"y", f32, "70001:1"}},
       "y = cumsum(x * 0.5, reverse=true)"},
      {"scanned columns, two scans",
       {{"x", i8, "(77,50):(50,1)"}, {"y", i64, "(77,50):(50,1)"}, {"z", i8, "(77,50):(50,1)"}},
       "y = cumsum(x, axis=0); z = cummin(x, axis=0, exclusive=true)"},
      {"scanned nested modes",
       {{"x", i32, "(3,(8,50)):(400,(50,1))"}, {"y", i64, "(3,(8,50)):(400,(1,8))"}},
       "y = cumsum(x)"},
      {"a transposed addition",
       {{"a", f32, "(67,71):(71,1)"}, {"b", f32, "(67,71):(1,67)"}, {"y", f32, "(67,71):(71,1)"}},
       "y = a + b"},
  };
}

bool combines(const Fused& op) {
  return std::ranges::any_of(formula::analyze(op).program.nodes, [](const expr::Node& node) {
    return expr::combines_elements(node.op);
  });
}

TEST(EmulatedLight, AgreesWithTheReference) {
  EmulatedKernels kernels;
  for (const Case& c : cases()) {
    RandomCase random_case{
        .op = {.tensors = c.tensors, .formula = c.formula}, .symbols = c.symbols, .scalars = {}};
    EXPECT_TRUE(kernels.add_light(c.what, std::move(random_case))) << c.what;
  }
  ASSERT_TRUE(kernels.compile());
  Random random(11);
  kernels.verify_all(random);
}

TEST(EmulatedLight, RandomOnesAgreeWithTheReference) {
  const int count = random_cases(4);
  EmulatedKernels kernels;
  Random random(20261123);
  for (int n = 0; n < count;) {
    RandomCase c = random_case(random);
    if (!EmulatedKernels::can_run(c.op) || !combines(c.op)) continue;
    n += kernels.add_light("case " + std::to_string(n), std::move(c)) ? 1 : 0;
  }
  ASSERT_TRUE(kernels.compile());
  kernels.verify_all(random);
}

}  // namespace
}  // namespace tilejit::test
