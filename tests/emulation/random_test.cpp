// Random operations of every family, run on the CPU against the reference. TILEJIT_TEST_SEED and
// TILEJIT_TEST_CASES say which, as for the same test on a GPU.
#include "emulation/emulated.hpp"
#include "support/number_from_env.hpp"

namespace tilejit::test {
namespace {

TEST(EmulatedSpecs, RandomOnesAgreeWithTheReference) {
  std::uint64_t seed = number_from_env("TILEJIT_TEST_SEED", 1);
  EmulatedKernels kernels;
  for (int left = random_cases(12); left > 0; ++seed) {
    Random random(seed);
    RandomCase c = random_case(random);
    if (!EmulatedKernels::can_run(c.op)) continue;
    kernels.add("seed " + std::to_string(seed), std::move(c));
    --left;
  }
  ASSERT_TRUE(kernels.compile());
  Random random(seed);
  kernels.verify_all(random);
}

}  // namespace
}  // namespace tilejit::test
