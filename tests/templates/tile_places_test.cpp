// What finding its places costs a thread of fused_tile.cu, in machine code.
#include <gtest/gtest.h>

#include "plan/plan.hpp"
#include "render/render.hpp"
#include "support/sass.hpp"
#include "templates/nvrtc.hpp"

namespace tilejit {
namespace {

/// Instructions per element of a transposed copy by tiles of `side` x `side` elements.
double instructions_per_element(int side, int threads) {
  const Fused op{
      .name = "transpose",
      .tensors = {{"x", f32, "(32767,8191):(1,32767)"}, {"y", f32, "(32767,8191):(8191,1)"}},
      .formula = "y = x",
      .tuning = {.threads = threads, .vector = 1, .tile = {{side, side}}}};
  const Target target = parse_target("sm_90a");
  const plan::Plan plan = plan::make_plan(op, formula::analyze(op), target);
  const operation::Source source = render::render(plan);
  const compile::Compiled compiled =
      test::nvrtc().compile({.source = {source.name, source.text, source.headers},
                             .target = "sm_90a",
                             .options = {},
                             .want_ptx = false});
  return static_cast<double>(test::sass_of(compiled.cubin).at(plan.kernel_name).size()) /
         plan.unroll;
}

/// A load, a store, two accesses of shared memory and conditions. Sides that are no powers of two
/// had divisions for each element, too: 31 instructions.
TEST(TilePlaces, CostFewInstructionsForSidesThatAreNoPowersOfTwo) {
  if (!test::has_disassembler()) GTEST_SKIP() << test::kNoDisassembler;
  EXPECT_LE(instructions_per_element(56, 224), 16);
}

}  // namespace
}  // namespace tilejit
