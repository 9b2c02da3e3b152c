// Products that reduce their results along N, on the CPU against the reference.
#include "emulation/emulated.hpp"
#include "support/reduction_case.hpp"

namespace tilejit::test::hopper {
namespace {

struct ReductionCase {
  const char* what;
  const char* formula;
  std::vector<Tensor> tensors;
  SymbolValues symbols = {};
};

/// x and w of that product, without outputs.
std::vector<Tensor> operands(int m, int n, int k, std::vector<Tensor> others) {
  std::vector<Tensor> tensors = {{"x", bf16, Layout(IntTuple{m, k}, IntTuple{k, 1})},
                                 {"w", bf16, Layout(IntTuple{k, n}, IntTuple{1, k})}};
  tensors.insert(tensors.end(), others.begin(), others.end());
  return tensors;
}

bool reduces(const Fused& op) {
  const plan::Plan plan = plan::make_plan(op, formula::analyze(op), kHopper);
  const plan::Matmul* const product = plan::matmul_of(plan::parts_of(plan).front());
  return product != nullptr && !product->reductions.empty();
}

TEST(HopperReductions, AgreeWithTheReference) {
  const std::vector<ReductionCase> cases = {
      {"a maximum", "m = max(x @ w)", operands(530, 1000, 64, {{"m", f32, "530:1"}})},
      {"of a function with a bias", "s = log(sum(exp(x @ w + bias)))",
       operands(600, 600, 40, {{"bias", f32, "600:1"}, {"s", f32, "(600,1):(1,0)"}})},
      {"an output besides, and two of it", "y = gelu(x @ w); m = max(y); s = mean(y * y)",
       operands(600, 600, 64,
                {{"y", bf16, "(600,600)"}, {"m", f32, "600:1"}, {"s", f32, "600:1"}})},
      {"with elements and rows of others",
       "p = x @ w; y = p + f32(rest); m = min(p * r) + max(p - f32(rest)) * r",
       operands(550, 776, 64,
                {{"rest", bf16, "(550,776)"},
                 {"r", f32, "(550,1):(1,0)"},
                 {"y", f16, "(550,776):(784,1)"},
                 {"m", f16, "550:2"}})},
      {"places of both axes", "m = max(where(iota(-1) <= iota(-2), x @ w, -inf))",
       operands(515, 1032, 64, {{"m", bf16, "515:1"}})},
      {"batches and a symbol",
       "m = max(x @ w); s = sum(x @ w)",
       {{"x", bf16, "(2,M,64):(32768,64,1)"},
        {"w", bf16, "(2,64,520)"},
        {"m", f32, "(2,M):(512,1)"},
        {"s", f32, "(2,M):(512,1)"}},
       {{"M", 277}}},
      {"nan is left out, unless there is nothing else",
       "m = max((x @ w) / 0 * 0); s = min(log(x @ w))",
       operands(500, 1024, 64, {{"m", f32, "500:1"}, {"s", f32, "500:1"}})},
  };
  EmulatedKernels kernels(kHopper);
  for (const ReductionCase& c : cases) {
    SCOPED_TRACE(c.what);
    const RandomCase one{
        .op = {.tensors = c.tensors, .formula = c.formula}, .symbols = c.symbols, .scalars = {}};
    EXPECT_TRUE(reduces(one.op));
    kernels.add(c.what, one);
  }
  ASSERT_TRUE(kernels.compile());
  Random random(31);
  kernels.verify_all(random);
}

// TILEJIT_TEST_CASES sets how many there are.
TEST(HopperReductions, OfRandomProductsAgreeWithTheReference) {
  EmulatedKernels kernels(kHopper);
  Random random(2029);
  const int cases = random_cases(8);
  int reducing = 0;
  for (int i = 0; i < cases; ++i) {
    const RandomCase c = random_reduction(random, 1008);
    reducing += reduces(c.op);
    kernels.add(std::to_string(i) + " " + to_json(c.op), c);
  }
  EXPECT_GT(2 * reducing, cases) << "too few cases are what this tests";
  ASSERT_TRUE(kernels.compile());
  kernels.verify_all(random);
}

}  // namespace
}  // namespace tilejit::test::hopper
