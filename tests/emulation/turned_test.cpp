// Columns whose inputs and outputs lie in different orders, run on the CPU against the reference.
#include "emulation/emulated.hpp"
#include "plan/plan.hpp"
#include "rows/rows.hpp"

namespace tilejit::test {
namespace {

constexpr const char* kSoftmax = "e = exp(x - max(x)); y = e / sum(e)";
constexpr const char* kMasked =
    "v = where(m, x, -30.0); y = v - max(v) - log(sum(exp(v - max(v))))";

struct TurnedCase {
  const char* what;
  std::vector<Tensor> tensors;
  const char* formula;
};

TEST(EmulatedRows, TakeInputsThatLieAlongThemFromSharedMemory) {
  const TurnedCase cases[] = {
      {"columns of a few threads each",
       {{"x", f16, "(24,22,256):(1,6144,24)"}, {"y", f16, "(24,22,256):(5632,256,1)"}},
       kSoftmax},
      {"columns, the last of them beside nothing",
       {{"x", f16, "(40,13,257):(1,10280,40)"}, {"y", f32, "(40,13,257):(3341,257,1)"}},
       kSoftmax},
      {"two columns of a vector, and a mask",
       {{"x", bf16, "(128,13,40,2):(1,128,3328,1664)"},
        {"m", b8, "(128,13,40,2):(1040,80,2,1)"},
        {"y", bf16, "(128,13,40,2):(1040,80,2,1)"}},
       kMasked},
      {"odd columns, element by element",
       {{"x", f16, "(89,59,27):(1,2403,89)"}, {"y", f16, "(89,59,27):(1593,27,1)"}},
       kSoftmax},
      {"columns in several turns",
       {{"x", f16, "(384,2050):(1,384)"}, {"y", f16, "(384,2050):(2050,1)"}},
       kSoftmax},
      {"two inputs along columns, and weights of all",
       {{"x", f32, "(52,56,48):(1,2496,52)"},
        {"z", u8, "(52,56,48):(1,52,2912)"},
        {"w", f32, "(52,1,1):(1,0,0)"},
        {"y", f32, "(52,56,48):(2688,48,1)"}},
       "v = x * w + f32(z); y = v - mean(v)"},
  };
  EmulatedKernels kernels;
  for (const TurnedCase& c : cases) {
    SCOPED_TRACE(c.what);
    const RandomCase one{.op = {.tensors = c.tensors, .formula = c.formula, .axis = {0}},
                         .symbols = {},
                         .scalars = {}};
    const plan::Plan plan = plan::make_plan(one.op, formula::analyze(one.op), kPlainHopper);
    const auto* const rows = std::get_if<plan::Rows>(&plan.family);
    EXPECT_TRUE(rows != nullptr && rows->turned_inputs > 0);
    kernels.add(c.what, one);
  }
  ASSERT_TRUE(kernels.compile());
  Random random(41);
  kernels.verify_all(random);
}

TEST(EmulatedRows, CrossColumnsOfInputsInAnotherOrder) {
  const TurnedCase cases[] = {
      {"a sector of each side by side",
       {{"x", f32, "(37,8,64):(512,1,8)"}, {"y", f32, "(37,8,64):(512,64,1)"}},
       kSoftmax},
      {"more of the input than fits, and a mask",
       {{"x", f16, "(20,48,320):(15360,1,48)"},
        {"m", b8, "(20,48,320):(15360,320,1)"},
        {"y", f16, "(20,48,320):(15360,320,1)"}},
       kMasked},
      {"outputs whose innermost mode is short",
       {{"x", f32, "(24,64,16,5):(320,1,7680,64)"}, {"y", f32, "(24,64,16,5):(5120,80,5,1)"}},
       kSoftmax},
      {"columns of clusters",
       {{"x", f32, "(200,8,64):(512,1,8)"}, {"y", f32, "(200,8,64):(512,64,1)"}},
       kSoftmax},
  };
  EmulatedKernels kernels;
  for (const TurnedCase& c : cases) {
    SCOPED_TRACE(c.what);
    const RandomCase one{.op = {.tensors = c.tensors, .formula = c.formula, .axis = {0}},
                         .symbols = {},
                         .scalars = {}};
    const plan::Plan plan = plan::make_plan(one.op, formula::analyze(one.op), kPlainHopper);
    const auto modes = static_cast<std::size_t>(rank(c.tensors.front().layout));
    EXPECT_GT(plan.extents.size(), modes) << "no mode is cut";
    EXPECT_EQ(plan::rows_of(plan)->cluster > 1, c.what == std::string("columns of clusters"));
    kernels.add(c.what, one);
  }
  ASSERT_TRUE(kernels.compile());
  Random random(42);
  kernels.verify_all(random);
}

TEST(EmulatedRows, AreStagedInTheOrderOfTheOutput) {
  const RandomCase one{.op = {.tensors = {{"x", bf16, "(88,96,4,57):(57,20064,5016,1)"},
                                          {"y", bf16, "(88,96,4,57):(21888,228,57,1)"}},
                              .formula = kSoftmax,
                              .axis = {3}},
                       .symbols = {},
                       .scalars = {}};
  EXPECT_EQ(EmulatedKernels::templates_of(one.op), "fused_staged ");
  EmulatedKernels kernels;
  kernels.add("rows of the input are elsewhere", one);
  ASSERT_TRUE(kernels.compile());
  Random random(43);
  kernels.verify_all(random);
}

}  // namespace
}  // namespace tilejit::test
