// The short way to the parameters of known sizes, against the Binder.
#include "launch/plain_binder.hpp"

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
using Params = std::array<std::byte, kMaxParamBytes>;

struct Bound {
  explicit Bound(const Fused& op)
      : plan(plan::make_plan(op, formula::analyze(op), parse_target("sm_90a"))),
        binder(plan.signature, plan::launch_plan(plan)),
        plain(PlainBinder::make(binder, kMostBlocks)) {}

  plan::Plan plan;
  Binder binder;
  std::optional<PlainBinder> plain;
};

Fused scaled(const std::string& layout = "(300,70):(70,1)") {
  return {.tensors = {{"x", f32, layout}, {"y", f16, layout}, {"z", f32, layout}},
          .scalars = {{"alpha", f32}, {"count", i32}},
          .formula = "z = alpha * x + f32(y) * count"};
}

constexpr std::uintptr_t kBytes = 300 * 70 * 4;

TEST(PlainBinder, WritesWhatABinderWrites) {
  const Bound bound(scaled());
  ASSERT_TRUE(bound.plain);
  const std::vector<Argument> args = {on_device(0x100000), on_device(0x100000 + kBytes),
                                      on_device(0x100000 + kBytes + kBytes / 2), 0.25, -7};
  Params plainly, carefully;
  plainly.fill(std::byte{0xa5});
  carefully.fill(std::byte{0x5a});
  ASSERT_TRUE(bound.plain->bind(args, plainly)) << "neighbours do not overlap";
  EXPECT_EQ(bind_one(bound.binder, args, nullptr, carefully).blocks, bound.plain->grid().blocks);
  EXPECT_EQ(fields_of(bound.plan, plainly.data()), fields_of(bound.plan, carefully.data()));
}

TEST(PlainBinder, LeavesTheUnusualToABinder) {
  const Bound bound(scaled());
  ASSERT_TRUE(bound.plain);
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
      {"in place", {on_device(kX), on_device(kY), on_device(kX), 1.0, 2}},
      {"an output that begins in an input",
       {on_device(kX), on_device(kY), on_device(kX + kBytes - 16), 1.0, 2}},
      {"an output that ends in one",
       {on_device(kX), on_device(kY), on_device(kY - kBytes + 16), 1.0, 2}},
  };
  for (const Case& c : cases) {
    Params params;
    EXPECT_FALSE(bound.plain->bind(c.args, params)) << c.what;
  }
}

TEST(PlainBinder, IsForKnownSizesAndFewArguments) {
  EXPECT_FALSE(Bound(scaled("(M,70):(70,1)")).plain) << "a symbol";
  EXPECT_FALSE(Bound(scaled("(0,70):(70,1)")).plain) << "nothing to launch";
  const Bound bound(scaled());
  const std::uint32_t blocks = bound.plain->grid().blocks;
  EXPECT_TRUE(PlainBinder::make(bound.binder, blocks));
  EXPECT_FALSE(PlainBinder::make(bound.binder, blocks - 1)) << "more than the device takes";
  Fused many{.tensors = {{"y", f32, "1000:1"}}, .formula = "y = 0"};
  for (int i = 0; i < 8; ++i) {
    EXPECT_TRUE(Bound(many).plain) << i;
    const std::string name = "x" + std::to_string(i);
    many.tensors.push_back({name, f32, "1000:1"});
    many.formula += " + " + name;
  }
  EXPECT_FALSE(Bound(many).plain) << "nine tensors";
}

}  // namespace
}  // namespace tilejit::launch
