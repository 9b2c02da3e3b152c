// Attention by the tensor cores of warps, run on the CPU against the reference. TILEJIT_TEST_CASES
// sets how many random ones, TILEJIT_TEST_SEED the first seed.
#include <string>
#include <variant>

#include "emulation/emulated.hpp"
#include "emulation/odd_values.hpp"
#include "support/attention_case.hpp"
#include "support/number_from_env.hpp"

namespace tilejit::test {
namespace {

struct AttentionCase {
  const char* what;
  const char* query;  // the layout of q; of k; of v; of y
  const char* keys;
  const char* values;
  const char* output;
  const char* score;  // t of s
  Tuning tuning = {};
};

constexpr const char* kCausal = "where(iota(-1) <= iota(-2) + (extent(-1) - extent(-2)), s, -inf)";

const AttentionCase kCases[] = {
    {"ragged", "(2,77,64)", "(2,301,64)", "(2,301,64)", "(2,77,64)", "s"},
    {"causal", "(150,128)", "(150,128)", "(150,128)", "(150,128)", kCausal},
    {"causal, two rows of instructions", "(140,64)", "(200,64)", "(200,64)", "(140,64)", kCausal,
     Tuning{.tile = {{64, 128}}}},
    {"window", "(1,260,32)", "(1,260,32)", "(1,260,32)", "(1,260,32)",
     "where(abs(iota(-1) - iota(-2)) < 40, s, -inf)"},
    {"shared heads", "(2,2,66,16)", "(2,1,130,16)", "(2,1,130,16)", "(2,2,66,16)", kCausal},
    {"partial chunks", "(70,20):(24,1)", "(130,20):(24,1)", "(130,36):(40,1)", "(70,36)", "s"},
    {"columns of outputs", "(70,48)", "(90,48)", "(90,80)", "(70,80):(1,70)", "s"},
    {"few keys", "(3,32)", "(5,32)", "(5,32)", "(3,32)", "s"},
};

RandomCase case_of(const AttentionCase& c) {
  return {.op = {.name = "attention",
                 .tensors = {{"q", bf16, c.query},
                             {"k", bf16, c.keys},
                             {"v", bf16, c.values},
                             {"y", bf16, c.output}},
                 .formula = std::string("s = (q @ k.T) * 0.125; t = ") + c.score +
                            "; e = exp(t - max(t)); y = bf16(e / sum(e)) @ v",
                 .tuning = c.tuning},
          .symbols = {},
          .scalars = {}};
}

TEST(EmulatedAttention, AgreesWithTheReference) {
  EmulatedKernels kernels;
  for (const AttentionCase& c : kCases) {
    SCOPED_TRACE(c.what);
    EXPECT_EQ(EmulatedKernels::templates_of(case_of(c).op), "attention_mma ");
    kernels.add(c.what, case_of(c));
  }
  ASSERT_TRUE(kernels.compile());
  Random random(5);
  kernels.verify_all(random);
}

TEST(EmulatedAttention, OfRandomScoresAgreesWithTheReference) {
  std::uint64_t seed = number_from_env("TILEJIT_TEST_SEED", 1);
  EmulatedKernels kernels;
  for (int left = random_cases(8); left > 0; ++seed) {
    Random random(seed);
    RandomCase c = random_attention(random);
    if (!EmulatedKernels::can_run(c.op)) continue;
    EXPECT_EQ(EmulatedKernels::templates_of(c.op), "attention_mma ") << "seed " << seed;
    kernels.add("seed " + std::to_string(seed), std::move(c));
    --left;
  }
  ASSERT_TRUE(kernels.compile());
  Random random(seed);
  kernels.verify_all(random);
}

/// Values of keys that rows do not see may be anything. Others reach the rows that see them only.
TEST(EmulatedAttention, PassesOddValuesToRowsThatSeeThem) {
  EmulatedKernels kernels;
  kernels.add("causal",
              case_of({"causal", "(150,64)", "(150,64)", "(150,64)", "(150,64)", kCausal}));
  kernels.add("length", case_of({"length", "(70,64)", "(150,64)", "(150,64)", "(70,64)",
                                 "where(iota(-1) < 100, s, -inf)"}));
  RandomCase biased = case_of({"bias", "(70,64)", "(150,64)", "(150,64)", "(70,64)", "s + b"});
  biased.op.tensors.insert(biased.op.tensors.begin(), {"b", f32, "(1,150)"});
  kernels.add("bias", biased);
  ASSERT_TRUE(kernels.compile());
  verify_with_odd_values(kernels);
}

}  // namespace
}  // namespace tilejit::test
