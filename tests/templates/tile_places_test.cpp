// What finding its places costs a thread of fused_tile.cu, in machine code.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "templates/machine_code.hpp"

namespace tilejit {
namespace {

struct Compiled {
  plan::Plan plan;
  std::vector<std::string> instructions;
};

/// The kernel of a transposed copy by tiles of `side` x `side` elements.
Compiled compile_transpose(int side, int threads) {
  const Fused op{
      .name = "transpose",
      .tensors = {{"x", f32, "(32767,8191):(1,32767)"}, {"y", f32, "(32767,8191):(8191,1)"}},
      .formula = "y = x",
      .tuning = {.threads = threads, .vector = 1, .tile = {{side, side}}}};
  return {plan::make_plan(op, formula::analyze(op), parse_target("sm_90a")),
          test::machine_code(op, "sm_90a")};
}

/// A load, a store, two accesses of shared memory and conditions. Sides that are no powers of two
/// had divisions for each element, too: 31 instructions.
TEST(TilePlaces, CostFewInstructionsForSidesThatAreNoPowersOfTwo) {
  if (!test::has_disassembler()) GTEST_SKIP() << test::kNoDisassembler;
  const auto [plan, instructions] = compile_transpose(56, 224);
  EXPECT_LE(static_cast<double>(instructions.size()) / plan.unroll, 16);
}

/// A store that follows its load waits for it: as many round trips to memory as a thread has
/// squares.
TEST(TilePlaces, LoadAllSquaresBeforeTheFirstIsPut) {
  if (!test::has_disassembler()) GTEST_SKIP() << test::kNoDisassembler;
  for (const auto& [side, threads] : {std::pair{56, 224}, {64, 256}}) {
    const auto [plan, instructions] = compile_transpose(side, threads);
    const auto is = [](const char* name) {
      return [name](const std::string& one) { return one.find(name) != std::string::npos; };
    };
    const auto put = std::ranges::find_if(instructions, is("STS"));
    EXPECT_EQ(std::ranges::count_if(instructions.begin(), put, is("LDG")), plan.unroll) << side;
  }
}

}  // namespace
}  // namespace tilejit
