// Attention by the warpgroups of sm_90a, run on the CPU against the reference. TILEJIT_TEST_CASES
// sets how many random ones, TILEJIT_TEST_SEED the first seed.
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "emulation/emulated.hpp"
#include "gpu/number_from_env.hpp"
#include "support/attention_case.hpp"

namespace tilejit::test {
namespace {

struct AttentionCase {
  const char* what;
  const char* query;  // the layout of q and y
  const char* keys;   // of k and v
  const char* score;  // t of s
  std::vector<Tensor> others = {};
  const char* result = "e = exp(t - max(t)); y = bf16(e / sum(e)) @ v";
  SymbolValues symbols = {};
};

constexpr const char* kCausal = "where(iota(-1) <= iota(-2) + (extent(-1) - extent(-2)), s, -inf)";

RandomCase case_of(const AttentionCase& c) {
  RandomCase made{
      .op = {.name = "attention",
             .tensors = c.others,
             .formula = std::string("s = (q @ k.T) * 0.125; t = ") + c.score + "; " + c.result},
      .symbols = c.symbols,
      .scalars = {}};
  for (const auto& [name, layout] :
       {std::pair{"q", c.query}, {"k", c.keys}, {"v", c.keys}, {"y", c.query}}) {
    made.op.tensors.push_back({name, bf16, layout});
  }
  return made;
}

const AttentionCase kCases[] = {
    {"plain", "(2,150,64)", "(2,300,64)", "s"},
};

TEST(HopperAttention, AgreesWithTheReference) {
  EmulatedKernels kernels(kHopper);
  for (const AttentionCase& c : kCases) {
    SCOPED_TRACE(c.what);
    EXPECT_EQ(EmulatedKernels::templates_of(case_of(c).op, kHopper), "attention_wgmma ");
    kernels.add(c.what, case_of(c));
  }
  ASSERT_TRUE(kernels.compile());
  Random random(5);
  kernels.verify_all(random);
}

}  // namespace
}  // namespace tilejit::test
