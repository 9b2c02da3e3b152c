// Columns whose inputs and outputs lie in different orders, run on the CPU against the reference.
#include "emulation/emulated.hpp"

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

TEST(EmulatedRows, CrossColumnsOfInputsInAnotherOrder) {
  const TurnedCase cases[] = {
      {"a sector of each side by side",
       {{"x", f32, "(37,8,64):(512,1,8)"}, {"y", f32, "(37,8,64):(512,64,1)"}},
       kSoftmax},
      {"more of the input than fits, and a mask",
       {{"x", f16, "(20,48,64):(3072,1,48)"},
        {"m", b8, "(20,48,64):(3072,64,1)"},
        {"y", f16, "(20,48,64):(3072,64,1)"}},
       kMasked},
      {"outputs whose innermost mode is short",
       {{"x", f32, "(24,64,16,5):(320,1,7680,64)"}, {"y", f32, "(24,64,16,5):(5120,80,5,1)"}},
       kSoftmax},
      {"columns of clusters",
       {{"x", f16, "(432,16,64):(1024,1,16)"}, {"y", f16, "(432,16,64):(1024,64,1)"}},
       kSoftmax},
  };
  EmulatedKernels kernels;
  for (const TurnedCase& c : cases) {
    SCOPED_TRACE(c.what);
    const RandomCase one{.op = {.tensors = c.tensors, .formula = c.formula, .axis = {0}},
                         .symbols = {},
                         .scalars = {}};
    EXPECT_EQ(EmulatedKernels::templates_of(one.op), "fused_rows ");
    kernels.add(c.what, one);
  }
  ASSERT_TRUE(kernels.compile());
  Random random(42);
  kernels.verify_all(random);
}

}  // namespace
}  // namespace tilejit::test
