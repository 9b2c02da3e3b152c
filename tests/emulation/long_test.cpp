// Formulas so long that their statements are split into several functions, run on the CPU.
#include "emulation/emulated.hpp"
#include "support/long_formulas.hpp"

namespace tilejit::test {
namespace {

TEST(EmulatedLongFormulas, AgreeWithTheReference) {
  EmulatedKernels kernels;
  for (LongFormula& formula : long_formulas(5000)) {
    kernels.add(formula.name, {.op = std::move(formula.op), .symbols = {}, .scalars = {}});
  }
  ASSERT_TRUE(kernels.compile());
  Random random(17);
  kernels.verify_all(random);
}

}  // namespace
}  // namespace tilejit::test
