// Products of matrices by the warpgroups of sm_90a, run on the CPU against the reference.
// TILEJIT_TEST_CASES sets how many random ones, TILEJIT_TEST_SEED the first seed.
#include <string>
#include <utility>

#include "emulation/emulated.hpp"
#include "emulation/emulated_product.hpp"
#include "support/number_from_env.hpp"
#include "support/product_case.hpp"

namespace tilejit::test::hopper {
namespace {

void add_product(EmulatedKernels& kernels, const ProductCase& c) {
  const RandomCase one = c.random_case();
  SCOPED_TRACE(c.what);
  EXPECT_EQ(EmulatedKernels::templates_of(one.op, kHopper), "matmul_wgmma ");
  kernels.add(c.what, one);
}

void expect_products(const std::vector<ProductCase>& cases) {
  EmulatedKernels kernels(kHopper);
  for (const ProductCase& c : cases) add_product(kernels, c);
  ASSERT_TRUE(kernels.compile());
  Random random(29);
  kernels.verify_all(random);
}

TEST(HopperProducts, OfAnyLayouts) {
  expect_products({
      {"rows by columns",
       {{"a", bf16, "(150,72)"}, {"b", bf16, "(72,136):(1,72)"}, {"d", bf16, "(150,136)"}}},
      {"rows by rows, ragged",
       {{"a", bf16, "(67,200)"}, {"b", bf16, "(200,72)"}, {"d", bf16, "(67,72)"}}},
      {"columns by columns, to columns",
       {{"a", f16, "(72,40):(1,72)"}, {"b", f16, "(40,66):(1,40)"}, {"d", f32, "(72,66):(1,72)"}},
       "d = f32(a @ b)"},
      {"columns by rows, with gaps",
       {{"a", bf16, "(64,33):(1,72)"},
        {"b", bf16, "(33,48):(56,1)"},
        {"d", bf16, "(64,48):(50,1)"}}},
      {"few rows of the left",
       {{"a", bf16, "(5,320)"}, {"b", bf16, "(320,264):(1,320)"}, {"d", bf16, "(5,264)"}}},
      {"to columns of 16 bits",
       {{"a", bf16, "(136,64)"}, {"b", bf16, "(64,200)"}, {"d", bf16, "(136,200):(1,136)"}}},
      {"batches that repeat",
       {{"a", bf16, "(3,72,40)"},
        {"b", bf16, "(2,1,40,72):(2880,0,72,1)"},
        {"d", bf16, "(2,3,72,72)"}}},
      {"of symbols",
       {{"a", bf16, "(M,K):(512,1)"}, {"b", bf16, "(K,N):(1,512)"}, {"d", bf16, "(M,N):(256,1)"}},
       "d = a @ b",
       {{"M", 77}, {"N", 136}, {"K", 168}}},
      {"a symbol that is 1",
       {{"a", bf16, "(70,K):(512,1)"},
        {"b", bf16, "(K,64):(1,512)"},
        {"c", f32, "64:1"},
        {"d", f32, "(70,64)"}},
       "d = f32(a @ b) + c",
       {{"K", 1}}},
  });
}

TEST(HopperProducts, OfOtherTypes) {
  expect_products({
      {"tf32", {{"a", tf32, "(70,44)"}, {"b", tf32, "(44,72):(1,44)"}, {"d", f32, "(70,72)"}}},
      {"tf32, through registers",
       {{"a", tf32, "(72,64):(1,72)"}, {"b", tf32, "(64,72):(1,64)"}, {"d", f32, "(72,72)"}}},
      {"tf32, through registers, one step",
       {{"a", tf32, "(72,32):(1,72)"}, {"b", tf32, "(32,72):(1,32)"}, {"d", f32, "(72,72)"}}},
      {"tf32, through registers, many sums",
       {{"a", tf32, "(200,96)"}, {"b", tf32, "(96,72)"}, {"d", f32, "(200,72)"}},
       "d = a @ b",
       {},
       {.tile = {{64, 160}}, .splits = 1}},
      {"tf32, the right one through registers",
       {{"a", tf32, "(68,64)"}, {"b", tf32, "(64,136)"}, {"d", f32, "(68,136)"}}},
      {"bytes with a sign",
       {{"a", i8, "(70,80)"}, {"b", i8, "(80,66):(1,80)"}, {"d", i32, "(70,66)"}}},
      {"bytes without one and with one",
       {{"a", u8, "(70,208)"}, {"b", i8, "(208,72):(1,208)"}, {"d", i32, "(70,72)"}}},
  });
}

TEST(HopperProducts, WithFormulas) {
  const std::vector<Tensor> biased = {{"a", bf16, "(150,72)"},
                                      {"b", bf16, "(72,136):(1,72)"},
                                      {"bias", bf16, "136:1"},
                                      {"d", bf16, "(150,136)"}};
  const std::vector<Tensor> residual = {{"a", bf16, "(150,72)"},  {"b", bf16, "(72,136):(1,72)"},
                                        {"r", bf16, "(150,136)"}, {"v", f32, "(150,1)"},
                                        {"d", bf16, "(150,136)"}, {"e", bf16, "(150,136)"}};
  const std::vector<Tensor> pair = {{"a", bf16, "(130,72)"},
                                    {"g", bf16, "(72,136):(1,72)"},
                                    {"u", bf16, "(72,136):(1,72)"},
                                    {"d", bf16, "(130,136)"}};
  expect_products({
      {"bias and gelu", biased, "d = gelu(a @ b + bias)"},
      {"two outputs", residual, "s = a @ b; d = relu(s) + r; e = s * v"},
      {"two outputs of several types",
       {{"a", bf16, "(77,64)"},
        {"b", bf16, "(64,50):(1,64)"},
        {"d", bf16, "(77,50)"},
        {"f", f32, "(77,50):(1,77)"}},
       "s = a @ b; d = relu(s); f = f32(s) * 2.0"},
      {"a triangle",
       {{"a", bf16, "(140,64)"}, {"b", bf16, "(64,140):(1,64)"}, {"d", bf16, "(140,140)"}},
       "d = where(iota(0) >= iota(1), a @ b, 0.0)"},
      {"a gated pair", pair, "d = silu(a @ g) * (a @ u)"},
      {"a pair with operands of its own",
       {{"a", bf16, "(130,72)"},
        {"g", bf16, "(72,136):(1,72)"},
        {"u", bf16, "(72,136):(1,72)"},
        {"c", bf16, "136:1"},
        {"r", bf16, "(130,136)"},
        {"d", bf16, "(130,136)"}},
       "d = silu(a @ g + c) * (a @ u) + r"},
      {"normalized rows",
       {{"a", bf16, "(130,128)"}, {"b", bf16, "(128,136):(1,128)"}, {"d", bf16, "(130,136)"}},
       "d = (a * rsqrt(mean(a * a) + 1)) @ b"},
  });
}

/// Tiles of several panels, whose operands are loaded a panel ahead if registers last: by one copy
/// of the formula's code for all panels, or one for each.
TEST(HopperProducts, WithOperandsLoadedAhead) {
  const std::vector<Tensor> biased = {{"a", bf16, "(300,200)"},
                                      {"b", bf16, "(200,264):(1,200)"},
                                      {"c", bf16, "264:1"},
                                      {"d", bf16, "(300,264)"}};
  const std::vector<Tensor> residual = {{"a", bf16, "(300,72)"},
                                        {"b", bf16, "(72,264):(1,72)"},
                                        {"c", bf16, "264:1"},
                                        {"r", bf16, "(300,264)"},
                                        {"d", bf16, "(300,264)"}};
  const Tuning together = {.tile = {{256, 128}}, .cluster = 1, .splits = 1};
  const Tuning in_turns = {.tile = {{128, 128}}, .cluster = 2, .splits = 1};
  const Tuning in_parts = {.tile = {{128, 128}}, .cluster = 1, .splits = 2};
  const Tuning two_high = {.tile = {{144, 256}}, .cluster = 1, .splits = 1};
  const char* const longer = "d = gelu(a @ b + c) * log(abs(a @ b) + 1) + r";
  expect_products({
      {"a bias", biased, "d = gelu(a @ b + c)", {}, together},
      {"a bias, in turns", biased, "d = gelu(a @ b + c)", {}, in_turns},
      {"a bias, in parts of K", biased, "d = gelu(a @ b + c)", {}, in_parts},
      {"a residual", residual, "d = gelu(a @ b + c) + r", {}, together},
      {"a residual, in turns", residual, "d = gelu(a @ b + c) + r", {}, in_turns},
      {"a residual, not ahead", residual, "d = gelu(a @ b + c) + r", {}, two_high},
      {"a longer formula", residual, longer, {}, together},
      {"a longer formula, not ahead", residual, longer, {}, two_high},
  });
}

/// Tiles, blocks of a cluster and warpgroups that a planner chooses for larger matrices.
TEST(HopperProducts, OfAnyTilesAndClusters) {
  const std::vector<Tensor> wide = {
      {"a", bf16, "(300,520)"}, {"b", bf16, "(520,264):(1,328)"}, {"d", bf16, "(300,264)"}};
  const std::vector<Tensor> turned = {
      {"a", bf16, "(300,520):(1,304)"}, {"b", bf16, "(520,264)"}, {"d", bf16, "(300,264)"}};
  const auto pinned = [](int m, int n, int cluster, int splits) {
    return Tuning{.tile = {{m, n}}, .cluster = cluster, .splits = splits};
  };
  expect_products({
      {"two consumers, alone", wide, "d = a @ b", {}, pinned(128, 256, 1, 1)},
      {"clusters of two", wide, "d = a @ b", {}, pinned(128, 256, 2, 1)},
      {"clusters of two, turned", turned, "d = a @ b", {}, pinned(128, 256, 2, 1)},
      {"three consumers", wide, "d = a @ b", {}, pinned(192, 192, 1, 1)},
      {"clusters of four", wide, "d = a @ b", {}, pinned(64, 128, 4, 1)},
      {"clusters of four, turned", turned, "d = a @ b", {}, pinned(64, 128, 4, 1)},
      {"clusters of four, which share three boxes",
       {{"a", bf16, "(137,320)"}, {"b", bf16, "(320,264)"}, {"d", bf16, "(137,264)"}},
       "d = a @ b",
       {},
       pinned(64, 144, 4, 1)},
      {"splits", wide, "d = a @ b", {}, pinned(128, 128, 1, 3)},
      {"splits of clusters", wide, "d = a @ b", {}, pinned(128, 128, 2, 4)},
  });
}

/// Blocks of a cluster with rows and columns of tiles that lie outside the matrix had nothing to
/// bring to others, who then were ahead of them by a round of the ring and released stages twice.
TEST(HopperProducts, WithBlocksOfAClusterOutside) {
  const auto tensors = [](int batches, int columns) {
    const std::string b = std::to_string(batches), n = std::to_string(columns);
    return std::vector<Tensor>{
        {"a", bf16, "(" + b + ",136,320)"},
        {"b", bf16, "(" + b + ",320," + n + "):(" + std::to_string(320 * columns) + ",1,320)"},
        {"d", bf16, "(" + b + ",136," + n + ")"}};
  };
  expect_products({
      {"two by two",
       tensors(4, 152),
       "d = a @ b",
       {},
       {.tile = {{64, 64}}, .cluster = 4, .splits = 1}},
      {"two by four", tensors(2, 72), "d = a @ b", {}, {.cluster = 8, .splits = 1}},
      {"swapped",
       tensors(4, 152),
       "d = a @ b",
       {},
       {.tile = {{64, 32}}, .cluster = 8, .splits = 1}},
  });
}

TEST(HopperProducts, OfRandomFormulasAgreeWithTheReference) {
  std::uint64_t seed = number_from_env("TILEJIT_TEST_SEED", 1);
  EmulatedKernels kernels(kHopper);
  for (int left = random_cases(8); left > 0; ++seed) {
    Random random(seed);
    RandomCase c = seed % 2 == 0 ? random_product(random) : random_epilogue(random);
    if (!EmulatedKernels::can_run(c.op)) continue;
    if (EmulatedKernels::templates_of(c.op, kHopper).find("matmul_wgmma ") == std::string::npos)
      continue;
    kernels.add("seed " + std::to_string(seed), std::move(c));
    --left;
  }
  ASSERT_TRUE(kernels.compile());
  Random random(seed);
  kernels.verify_all(random);
}

/// What the emulation is for: a kernel that does not wait as it should is found.
TEST(HopperProducts, ThatDoNotWaitGoWrong) {
  const std::pair<const char*, const char*> changes[] = {
      {"void acquire(State state) const { mbarrier_wait(empty(state), state.phase ^ 1); }",
       "void acquire(State) const {}"},
      {"void acquire(State state) const { mbarrier_wait(empty(state), state.phase ^ 1); }",
       "void acquire(State state) const { mbarrier_wait(empty(state), state.phase); }"},
      {"void wait(State state) const { mbarrier_wait(full(state), state.phase); }",
       "void wait(State) const {}"},
      {"wgmma_wait<1>();\n      release(ring, before, role, thread);",
       "release(ring, before, role, thread);"},
      {"wgmma_wait<0>();\n    release(ring, before, role, thread);\n#pragma",
       "release(ring, before, role, thread);\n#pragma"},
      {"ring.expect(at, bytes);", "ring.expect(at, bytes - 128);"},
      {"wgmma_fence();\n#pragma unroll\n    for (int i", "for (int i"},
  };
  EmulatedKernels kernels(kHopper);
  for (const auto& [from, to] : changes) {
    add_product(
        kernels,
        {from,
         {{"a", bf16, "(150,1000)"}, {"b", bf16, "(1000,136):(1,1000)"}, {"d", bf16, "(150,136)"}},
         "d = a @ b",
         {},
         {.tile = {{128, 64}}, .splits = 1}});
    kernels.change(from, to);
  }
  ASSERT_TRUE(kernels.compile());
  Random random(3);
  kernels.expect_all_wrong(random);
}

}  // namespace
}  // namespace tilejit::test::hopper
