// Formulas so long that their statements are split into several functions, on the device: NVRTC's
// time used to grow with the cube of the length of a chain of integer operations.
#include "support/long_formulas.hpp"

#include "gpu/gpu_fixture.hpp"

namespace tilejit::test {
namespace {

class LongFormulas : public Gpu {};

TEST_F(LongFormulas, AgreeWithTheReference) {
  Random random(20261122);
  for (LongFormula& formula : long_formulas(5000)) {
    SCOPED_TRACE(formula.name);
    run_and_verify({.op = std::move(formula.op), .symbols = {}, .scalars = {}}, random);
  }
}

}  // namespace
}  // namespace tilejit::test
