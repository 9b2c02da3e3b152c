// The short path to the parameters of known sizes, against the Binder.
#include "launch/bind_program.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "fake/hand_plans.hpp"
#include "formula/analysis.hpp"
#include "plan/plan.hpp"
#include "tilejit/target.hpp"

namespace tilejit::launch {
namespace {

constexpr std::uint32_t kMostBlocks = 0x7fffffff;
using Params = std::array<std::byte, BindProgram::kMaxParamBytes>;

struct Bound {
  explicit Bound(const Fused& op)
      : plan(plan::make_plan(op, formula::analyze(op), parse_target("sm_90a"))),
        binder(plan.signature, plan::launch_plan(plan)),
        program(BindProgram::of_known_sizes(binder, kMostBlocks)) {}

  plan::Plan plan;
  Binder binder;
  std::optional<BindProgram> program;
};

Fused scaled(const std::string& layout = "(300,70):(70,1)") {
  return {.tensors = {{"x", f32, layout}, {"y", f16, layout}, {"z", f32, layout}},
          .scalars = {{"alpha", f32}, {"count", i32}},
          .formula = "z = alpha * x + f32(y) * count"};
}

constexpr std::uintptr_t kBytes = 300 * 70 * 4;

TEST(KnownSizes, WritesWhatABinderWrites) {
  const Bound bound(scaled());
  ASSERT_TRUE(bound.program);
  constexpr std::uintptr_t kX = 0x100000, kY = kX + kBytes, kZ = kY + kBytes / 2;
  for (const std::uintptr_t z : {kZ, kX}) {  // adjacent, and in place: elements are laid out alike
    SCOPED_TRACE(z);
    const std::vector<Argument> args = {on_device(kX), on_device(kY), on_device(z), 0.25, -7};
    Params plainly, carefully;
    plainly.fill(std::byte{0xa5});
    carefully.fill(std::byte{0x5a});
    const std::uint32_t blocks = bound.program->bind(args, plainly);
    ASSERT_NE(blocks, 0u);
    EXPECT_EQ(bind_one(bound.binder, args, nullptr, carefully).blocks, blocks);
    EXPECT_EQ(fields_of(bound.plan, plainly.data()), fields_of(bound.plan, carefully.data()));
  }
}

TEST(KnownSizes, LeavesTheUnusualToABinder) {
  const Bound bound(scaled());
  ASSERT_TRUE(bound.program);
  constexpr std::uintptr_t kX = 0x100000, kY = 0x200000, kZ = 0x300000;
  struct Case {
    const char* what;
    std::vector<Argument> args;
  };
  const std::vector<std::int64_t> shape = {300, 70}, stride = {70, 1};
  const Case cases[] = {
      {"too few", {on_device(kX), on_device(kY), on_device(kZ), 1.0}},
      {"too many", {on_device(kX), on_device(kY), on_device(kZ), 1.0, 2, 3}},
      {"null", {on_device(0), on_device(kY), on_device(kZ), 1.0, 2}},
      {"less aligned", {on_device(kX + 8), on_device(kY), on_device(kZ), 1.0, 2}},
      {"with a shape", {{f32, on_device(kX), shape, stride}, on_device(kY), on_device(kZ), 1.0, 2}},
      {"a number for a tensor", {3, on_device(kY), on_device(kZ), 1.0, 2}},
      {"a tensor for a number", {on_device(kX), on_device(kY), on_device(kZ), on_device(kX), 2}},
      {"a fraction for an integer", {on_device(kX), on_device(kY), on_device(kZ), 1.0, 2.5}},
      {"beyond f32", {on_device(kX), on_device(kY), on_device(kZ), 1e300, 2}},
      {"in the place of smaller elements", {on_device(kX), on_device(kY), on_device(kY), 1.0, 2}},
      {"an output that begins in an input",
       {on_device(kX), on_device(kY), on_device(kX + kBytes - 16), 1.0, 2}},
      {"an output that ends in one",
       {on_device(kX), on_device(kY), on_device(kY - kBytes + 16), 1.0, 2}},
  };
  for (const Case& c : cases) {
    Params params;
    EXPECT_EQ(bound.program->bind(c.args, params), 0u) << c.what;
  }
}

TEST(KnownSizes, IsForKnownSizesAndFewArguments) {
  EXPECT_FALSE(Bound(scaled("(M,70):(70,1)")).program) << "a symbol";
  EXPECT_FALSE(Bound(scaled("(0,70):(70,1)")).program) << "nothing to launch";
  const Bound bound(scaled());
  Params params;
  const std::vector<Argument> args = {on_device(0x100000), on_device(0x200000), on_device(0x300000),
                                      0.25, -7};
  const std::int64_t blocks = bound.program->bind(args, params);
  EXPECT_TRUE(BindProgram::of_known_sizes(bound.binder, blocks));
  EXPECT_FALSE(BindProgram::of_known_sizes(bound.binder, blocks - 1))
      << "more than the device takes";
  Fused many{.tensors = {{"y", f32, "1000:1"}}, .formula = "y = 0"};
  for (int i = 0; i < 24; ++i) {
    EXPECT_TRUE(Bound(many).program) << i;
    const std::string name = "x" + std::to_string(i);
    many.tensors.push_back({name, f32, "1000:1"});
    many.formula += " + " + name;
  }
  for (int i = 24; i < 32; ++i) many.tensors.push_back({"z" + std::to_string(i), f32, "1000:1"});
  for (int i = 24; i < 32; ++i) many.formula += " + z" + std::to_string(i);
  EXPECT_FALSE(Bound(many).program) << "33 tensors";
  EXPECT_EQ(BindProgram().bind({}, params), 0u) << "made of nothing";
}

}  // namespace
}  // namespace tilejit::launch
