// Products of matrices by the warpgroups of sm_90a, run on the CPU against the reference.
#include <iterator>
#include <utility>

#include "emulation/emulated.hpp"

namespace tilejit::test {
namespace {

struct ProductCase {
  const char* what;
  std::vector<Tensor> tensors;
  const char* formula = "d = a @ b";
  SymbolValues symbols = {};
  Tuning tuning = {};
};

void add_product(EmulatedKernels& kernels, const ProductCase& c) {
  const RandomCase one{.op = {.tensors = c.tensors, .formula = c.formula, .tuning = c.tuning},
                       .symbols = c.symbols,
                       .scalars = {}};
  EXPECT_EQ(EmulatedKernels::templates_of(one.op, kHopper), "matmul_wgmma ") << c.what;
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
       {{"a", bf16, "(150,72):(72,1)"},
        {"b", bf16, "(72,136):(1,72)"},
        {"d", bf16, "(150,136):(136,1)"}}},
  });
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
      {"wgmma_fence();\n#pragma unroll\n    for (int k", "for (int k"},
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
  for (std::size_t i = 0; i < std::size(changes); ++i) {
    EXPECT_NE(kernels.wrong(i, random), "") << changes[i].first;
  }
}

}  // namespace
}  // namespace tilejit::test
