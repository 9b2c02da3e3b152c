// Maps of odd rows, run on the CPU against the reference.
#include <algorithm>

#include "emulation/emulated.hpp"

namespace tilejit::test {
namespace {

TEST(EmulatedMaps, OfTensorsThatBeginAnywhereAgreeWithTheReference) {
  struct Case {
    const char* what;
    std::vector<Tensor> tensors;
    const char* formula = "y = x * z";
    Tuning tuning = {};
  };
  const Case cases[] = {
      {"peeled rows of words",
       {{"x", f32, "(13,3,95):(570,190,1)", Access::in, 4},
        {"z", u8, "(13,3,95):(285,95,1)", Access::in, 1},
        {"y", f32, "(13,3,95):(285,95,1)"}},
       "y = max(x, z)",
       {.vector = 4}},
      {"peeled rows of two views of pairs",
       {{"x", bf16, "(17,257):(514,1)", Access::in, 2},
        {"z", bf16, "(17,257):(293,1)", Access::in, 2},
        {"y", bf16, "(17,257):(257,1)"}},
       "y = x * z",
       {.vector = 8}},
      {"and of a view that lies as the output does, but begins elsewhere",
       {{"x", bf16, "(17,257):(259,1)", Access::in, 4}, {"y", bf16, "(17,257):(259,1)"}},
       "y = x * 2.0",
       {.vector = 8}},
      {"peeled rows of bytes",
       {{"x", i8, "(9,519):(519,1)", Access::in, 1}, {"y", i8, "(9,519):(521,1)"}},
       "y = x - 1",
       {.vector = 16}},
      {"shifted tiles",
       {{"x", f16, "(147,133):(1,147)", Access::in, 2}, {"y", f16, "(147,133):(133,1)"}},
       "y = x * 2.0",
       {.vector = 8}},
  };
  EmulatedKernels kernels;
  for (const Case& c : cases) {
    const Fused op{.tensors = c.tensors, .formula = c.formula, .tuning = c.tuning};
    const plan::Plan plan =
        plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0, .feature = 'a'});
    EXPECT_TRUE(plan.operands.front().shifted) << c.what;
    kernels.add(c.what, {.op = op, .symbols = {}, .scalars = {}});
  }
  ASSERT_TRUE(kernels.compile());
  Random random(16);
  kernels.verify_all(random);
}

TEST(EmulatedMaps, CountedAlongAShortModeAgreeWithTheReference) {
  struct Case {
    const char* what;
    std::vector<Tensor> tensors;
  };
  const Case cases[] = {
      {"rows of three to three rows",
       {{"x", f32, "(3,700001):(1,3)"}, {"y", f32, "(3,700001):(700004,1)"}}},
      {"pairs of another mode than the next one",
       {{"x", f16, "(2,24,31000):(1,62002,2)"}, {"y", f16, "(2,24,31000):(744000,31000,1)"}}},
  };
  EmulatedKernels kernels;
  for (const Case& c : cases) {
    const Fused op{.tensors = c.tensors, .formula = "y = x"};
    const plan::Plan plan =
        plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0, .feature = 'a'});
    ASSERT_TRUE(std::holds_alternative<plan::Map>(plan.family)) << c.what;
    EXPECT_NE(std::get<plan::Map>(plan.family).first, 0) << c.what;
    kernels.add(c.what, {.op = op, .symbols = {}, .scalars = {}});
  }
  ASSERT_TRUE(kernels.compile());
  Random random(28);
  kernels.verify_all(random);
}

TEST(EmulatedMaps, OfInputsThatAreTheSameInAVectorAgreeWithTheReference) {
  struct Case {
    const char* what;
    std::vector<Tensor> tensors;
    const char* formula;
    int vector;
  };
  const Case cases[] = {
      {"of one element",
       {{"x", bf16, "(5000):(0)"}, {"y", bf16, "(5000):(1)"}},
       "y = log(1 + exp(x))",
       8},
      {"a column beside a matrix, and both outputs of it",
       {{"x", f16, "(40,64):(64,1)"},
        {"z", f16, "(40,64):(1,0)"},
        {"y", f16, "(40,64):(64,1)"},
        {"w", f32, "(40,64):(64,1)"}},
       "a = log(abs(z) + 1); y = x * a; w = f32(a)",
       4},
      {"peeled rows by a column's sines",
       {{"x", f32, "(33,95):(95,1)"}, {"z", f32, "(33,95):(1,0)"}, {"y", f32, "(33,95):(95,1)"}},
       "y = x * sin(z) + erf(z)",
       4},
      {"two values of a column, of which one is made of the other",
       {{"x", i32, "(33,96):(96,1)"}, {"z", f32, "(33,96):(1,0)"}, {"y", f32, "(33,96):(96,1)"}},
       "a = tanh(z); b = exp(a) / (abs(z) + 1); y = where(x > 0, a, b) + iota(1)",
       4},
  };
  EmulatedKernels kernels;
  for (const Case& c : cases) {
    const Fused op{.tensors = c.tensors, .formula = c.formula, .tuning = {.vector = c.vector}};
    const plan::Plan plan =
        plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0, .feature = 'a'});
    ASSERT_TRUE(std::holds_alternative<plan::Map>(plan.family)) << c.what;
    EXPECT_GT(std::ranges::count(plan::same_in_vectors(plan), true), 1) << c.what;
    kernels.add(c.what, {.op = op, .symbols = {}, .scalars = {}});
  }
  ASSERT_TRUE(kernels.compile());
  Random random(29);
  kernels.verify_all(random);
}

}  // namespace
}  // namespace tilejit::test
