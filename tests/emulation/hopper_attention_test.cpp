// Attention by the warpgroups of sm_90a, run on the CPU against the reference. TILEJIT_TEST_CASES
// sets how many random ones, TILEJIT_TEST_SEED the first seed.
#include <string>
#include <utility>

#include "emulation/emulated.hpp"
#include "emulation/odd_values.hpp"
#include "support/attention_case.hpp"
#include "support/number_from_env.hpp"

namespace tilejit::test::hopper {
namespace {

struct AttentionCase {
  const char* what;
  const char* query;  // the layout of q and y
  const char* keys;   // of k and v
  const char* score = "s";
  std::vector<Tensor> others = {};
  const char* result = "y = bf16(e / sum(e)) @ v";
  const char* exponentials = "m = max(t); e = exp(t - m)";
  SymbolValues symbols = {};
  DType dtype = bf16;
};

constexpr const char* kCausal = "where(iota(-1) <= iota(-2) + (extent(-1) - extent(-2)), s, -inf)";

RandomCase case_of(const AttentionCase& c) {
  RandomCase made{.op = {.name = "attention",
                         .tensors = c.others,
                         .formula = std::string("s = (q @ k.T) * 0.125; t = ") + c.score + "; " +
                                    c.exponentials + "; " + c.result},
                  .symbols = c.symbols,
                  .scalars = {}};
  for (const auto& [name, layout] :
       {std::pair{"q", c.query}, {"k", c.keys}, {"v", c.keys}, {"y", c.query}}) {
    made.op.tensors.push_back({name, c.dtype, layout});
  }
  return made;
}

void expect_attentions(const std::vector<AttentionCase>& cases) {
  EmulatedKernels kernels(kHopper);
  for (const AttentionCase& c : cases) {
    SCOPED_TRACE(c.what);
    EXPECT_EQ(EmulatedKernels::templates_of(case_of(c).op, kHopper), "attention_wgmma ");
    kernels.add(c.what, case_of(c));
  }
  ASSERT_TRUE(kernels.compile());
  Random random(5);
  kernels.verify_all(random);
}

TEST(HopperAttention, AgreesWithTheReference) {
  expect_attentions({
      {"ragged", "(2,150,64)", "(2,300,64)"},
      {"wide heads", "(200,128)", "(300,128)"},
      {"few columns", "(3,70,16)", "(3,129,16)"},
      {"few keys", "(3,32)", "(5,32)"},
      {"heads that share keys", "(2,2,66,64)", "(2,1,260,64)"},
      {"symbols",
       "(Q,64)",
       "(S,64)",
       kCausal,
       {},
       "y = bf16(e / sum(e)) @ v",
       "m = max(t); e = exp(t - m)",
       {{"Q", 170}, {"S", 400}}},
  });
}

TEST(HopperAttention, WithMasksAgreesWithTheReference) {
  expect_attentions({
      {"causal", "(2,330,64)", "(2,330,64)", kCausal},
      {"causal, wide heads", "(150,128)", "(280,128)", kCausal},
      {"causal, a scale below 0", "(200,64)", "(300,64)",
       "where(iota(-1) <= iota(-2) + 100, s * -2, -inf)"},
      {"window", "(1,400,32)", "(1,400,32)", "where(abs(iota(-1) - iota(-2)) < 40, s, -inf)"},
      {"documents",
       "(400,64)",
       "(400,64)",
       "where(x == z and iota(-1) <= iota(-2), s, -inf)",
       {{"x", i32, "(400,1)"}, {"z", i32, "(1,400)"}}},
      {"blocks that nobody sees", "(300,64)", "(600,64)",
       "where(iota(-1) // 200 == iota(-2) // 200, s, -inf)"},
      {"rows that see nothing",
       "(300,64)",
       "(300,64)",
       "where(iota(-1) < iota(-2) - 100, s, -inf)",
       {},
       "y = bf16(e / max(sum(e), 1e-30)) @ v",
       "m = max(t); e = exp(t - where(m > -inf, m, 0))"},
  });
}

TEST(HopperAttention, WithOtherScoresAgreesWithTheReference) {
  expect_attentions({
      {"soft cap", "(150,64)", "(200,64)", "5 * tanh(s / 5)"},
      {"ALiBi",
       "(3,150,64)",
       "(3,200,64)",
       "s - slope * f32(iota(-2) - iota(-1))",
       {{"slope", f32, "(3,1,1)"}}},
      {"bias", "(150,64)", "(200,64)", "s + x", {{"x", bf16, "(150,200)"}}},
      {"sink",
       "(3,150,64)",
       "(3,150,64)",
       "where(iota(-1) <= iota(-2), s, -inf)",
       {{"sink", bf16, "(3,1,1)"}},
       "y = bf16(e / (sum(e) + exp(sink - m))) @ v"},
      {"log of sums",
       "(150,64)",
       "(200,64)",
       "s",
       {{"lse", f32, "(150,1)"}},
       "y = bf16(e / sum(e)) @ v; lse = m + log(sum(e))"},
      // From block to block by less and by more than what outputs are rescaled for.
      {"maxima that grow",
       "(70,64)",
       "(900,64)",
       "s - 0.02 * f32(iota(-1)) - 0.0001 * f32(iota(-1)) * f32(iota(-1))",
       {{"lse", f32, "(70,1)"}, {"most", f32, "(70,1)"}},
       "y = bf16(e / sum(e)) @ v; lse = m + log(sum(e)); most = m"},
      {"distances of both signs", "(150,64)", "(300,64)",
       "s - 0.25 * abs(f32(iota(-1) - iota(-2)))"},
      {"distances from the key, times a factor of the row",
       "(150,64)",
       "(300,64)",
       "s + f32(iota(-1) - iota(-2)) * slope",
       {{"slope", f32, "(150,1)"}}},
      {"changed outputs",
       "(150,64)",
       "(200,64)",
       "s",
       {{"z", f32, "(1,64)"}},
       "y = bf16(e / sum(e)) @ v * 2 + z"},
  });
}

// Blocks of keys that are neither a tile's first nor masked find no maxima, unless weights relative
// to what the blocks before have left are too large, or the scale is not positive.
TEST(HopperAttention, WithoutMaximaAgreesWithTheReference) {
  constexpr const char* kRows = "y = bf16(e / sum(e)) @ v; lse = m + log(sum(e)); most = m";
  constexpr const char* kOrNothing = "y = bf16(e / max(sum(e), 1e-30)) @ v";
  constexpr const char* kFinite = "m = max(t); e = exp(t - where(m > -inf, m, 0))";
  expect_attentions({
      {"scores that hardly differ", "(150,64)", "(900,64)", "s / 8"},
      {"scores that differ", "(150,128)", "(900,128)", "s * 10"},
      {"a scale below 0", "(150,64)", "(600,64)", "s * -10"},
      {"each block has the greatest score so far", "(150,64)", "(900,64)",
       "s - 0.5 * f32(iota(-1))"},
      {"each block has the least", "(150,64)", "(900,64)", "s + 0.5 * f32(iota(-1))"},
      {"each block has the greatest, f16",
       "(70,64)",
       "(900,64)",
       "s - 0.1 * f32(iota(-1))",
       {},
       "y = f16(e / sum(e)) @ v",
       "m = max(t); e = exp(t - m)",
       {},
       f16},
      {"one block has the greatest score", "(150,64)", "(900,64)",
       "s + where(iota(-1) == 200, 1000.0, 0.0)"},
      {"a soft cap", "(150,64)", "(900,64)", "20 * tanh(s / 20)"},
      {"one that scores reach", "(150,128)", "(600,128)", "1000 * tanh(s * 2)"},
      {"rows that see nothing in their first blocks",
       "(600,64)",
       "(600,64)",
       "where(iota(-1) <= iota(-2) - 200, 50 * tanh(s), -inf)",
       {},
       kOrNothing,
       kFinite},
      {"with a tensor",
       "(300,64)",
       "(300,64)",
       "where(iota(-1) <= iota(-2) - 70, 50 * tanh(s + x), -inf)",
       {{"x", bf16, "(300,300)"}},
       kOrNothing,
       kFinite},
      {"values of rows",
       "(150,64)",
       "(900,64)",
       "s * 10 - 0.02 * f32(iota(-1))",
       {{"lse", f32, "(150,1)"}, {"most", f32, "(150,1)"}},
       kRows},
      {"values of rows, and a mask",
       "(600,64)",
       "(600,64)",
       "where(iota(-1) <= iota(-2), 50 * tanh(s), -inf)",
       {{"lse", f32, "(600,1)"}, {"most", f32, "(600,1)"}},
       kRows},
  });
}

TEST(HopperAttention, OfRandomScoresAgreesWithTheReference) {
  std::uint64_t seed = number_from_env("TILEJIT_TEST_SEED", 1);
  EmulatedKernels kernels(kHopper);
  for (int left = random_cases(6); left > 0; ++seed) {
    Random random(seed);
    RandomCase c = random_attention(random);
    if (EmulatedKernels::templates_of(c.op, kHopper) != "attention_wgmma ") continue;
    kernels.add("seed " + std::to_string(seed), std::move(c));
    --left;
  }
  ASSERT_TRUE(kernels.compile());
  Random random(seed);
  kernels.verify_all(random);
}

/// Values of keys that rows do not see may be anything. Others reach the rows that see them only.
TEST(HopperAttention, PassesOddValuesToRowsThatSeeThem) {
  EmulatedKernels kernels(kHopper);
  kernels.add("causal", case_of({"causal", "(150,64)", "(150,64)", kCausal}));
  kernels.add("length",
              case_of({"length", "(70,64)", "(150,64)", "where(iota(-1) < 100, s, -inf)"}));
  kernels.add("bias", case_of({"bias", "(70,64)", "(150,64)", "s + b", {{"b", f32, "(1,150)"}}}));
  ASSERT_TRUE(kernels.compile());
  verify_with_odd_values(kernels);
}

/// What the emulation is for: a kernel that does not wait as it should is found.
TEST(HopperAttention, ThatDoesNotWaitGoesWrong) {
  const std::pair<const char*, const char*> changes[] = {
      {"rings.q.wait(at.q);", ""},
      {"rings.k.wait(at.k);", ""},
      {"rings.v.wait(at.v);\n    if constexpr (kHasChecks)", "if constexpr (kHasChecks)"},
      {"wgmma_wait<1>();  // the scores are there, the values still run", ""},
      {"wgmma_wait<0>();\n      pin(o[0]);", "pin(o[0]);"},
      {"if (place.releases()) rings.q.release(at.q);\n", ""},
      {"rings.k.acquire(at);", ""},
      {"rings.v.acquire(at);", ""},
      {"if (place.lane() == 0) rings.checks.release(at);", ""},
      {"pass_turn(consumer);\n    };", "};"},
      {"ring().wait(at);\n    KeyWindow window;", "KeyWindow window;"},
      {"ring().acquire(at);", "ring();"},
  };
  EmulatedKernels kernels(kHopper);
  for (const auto& [from, to] : changes) {
    kernels.add(from, case_of({from, "(700,64)", "(700,64)", kCausal}));
    kernels.change(from, to);
  }
  ASSERT_TRUE(kernels.compile());
  Random random(3);
  kernels.expect_all_wrong(random);
}

}  // namespace
}  // namespace tilejit::test::hopper
