// An operation that takes a tensor map, from its plan to its cubin. tests/gpu/ runs it.
#include "operation/boxes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compile/nvrtc.hpp"
#include "fake/fake_driver.hpp"
#include "fake/fake_runtime.hpp"
#include "tilejit/compiler.hpp"
#include "tilejit/dispatcher.hpp"
#include "tilejit/explain.hpp"

namespace tilejit {
namespace {

using launch::Internals;
using test::Boxes;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(BoxesPlans, AreOfXOrOfAnAlignedCopy) {
  const Target target{.major = 9, .minor = 0, .feature = 'a'};
  Boxes op{.symbols = {{"S", 8}}};
  EXPECT_THAT(render_plan(test::boxes(op), target), HasSubstr("\"base\": \"tensor\""));
  op.tensors[0].align = 8;
  EXPECT_THAT(render_plan(test::boxes(op), target), HasSubstr("\"base\": \"workspace\""));
  op.tensors[0].align = 16;
  op.symbols = {{"S", 4}};
  EXPECT_THAT(render_plan(test::boxes(op), target), HasSubstr("\"base\": \"workspace\""));
}

TEST(BoxesOnTheHost, AreSwizzledAndFilledWithZeros) {
  Boxes op;
  op.tensors = {{"x", u32, "(2,3):(4,1)", Access::in}, {"y", u32, "256:1", Access::out}};
  op.swizzle = Boxes::Map::Swizzle::bytes_32;
  EXPECT_EQ(op.elements_out(2, 3), 256);
  std::vector<std::uint32_t> x(8), y(256, 7);
  for (std::uint32_t i = 0; i < 8; ++i) x[i] = i + 1;
  evaluate(test::boxes(op), {.tensors = {x.data(), y.data()}});
  std::vector<std::uint32_t> want(256, 0);
  for (std::size_t i : {0, 1, 2}) want[i] = x[i], want[8 + i] = x[4 + i];
  EXPECT_EQ(y, want);
  // With rows of 32 bytes, the fifth is the first whose chunks are swapped.
  op.tensors[0].layout = "(5,3):(4,1)";
  x.resize(20);
  x[16] = 99;
  evaluate(test::boxes(op), {.tensors = {x.data(), y.data()}});
  EXPECT_EQ(y[4 * 8 + 4], 99U);
}

class BoxesCompiled : public testing::Test {
 protected:
  void SetUp() override {
    if (!compile::find_nvrtc()) GTEST_SKIP() << "NVRTC is not installed";
  }
};

/// The map stays where the driver put it: the hardware does not read copies on the stack.
TEST_F(BoxesCompiled, ForEveryTargetThatHasTensorMaps) {
  const compile::Nvrtc nvrtc("");
  for (const char* target : {"sm_90", "sm_90a", "sm_100a", "sm_120a"}) {
    SCOPED_TRACE(target);
    for (const int align : {16, 2}) {
      Boxes op{.symbols = {{"S", 8}}};
      op.tensors[0].align = align;
      const operation::Plan plan = test::boxes(op).descriptor().plan(parse_target(target));
      const compile::Compiled made = nvrtc.compile({.source = plan.body->source(),
                                                    .target = target,
                                                    .options = {"--ptxas-options=-v"},
                                                    .want_ptx = true});
      EXPECT_THAT(made.cubin, HasSubstr("tilejit_boxes"));
      EXPECT_THAT(made.ptx, HasSubstr("cp.async.bulk.tensor.2d.shared::cluster.global"));
      EXPECT_THAT(made.log, HasSubstr(" bytes stack frame, 0 bytes spill stores"));
      EXPECT_THAT(made.log, Not(ContainsRegex("[1-9][0-9][0-9] bytes stack frame")));
    }
  }
}

/// Memory that a tensor map cannot describe gets a separate kernel.
TEST_F(BoxesCompiled, AreDispatchedByTheAlignmentOfALaunch) {
  FakeDriver fake;
  fake.param_bytes = 192;
  Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  Dispatcher dispatcher(runtime, test::boxes({}));
  const auto launch = [&](std::uintptr_t address, std::int64_t pitch) {
    const std::vector<std::int64_t> shape = {100, 70}, stride = {pitch, 1}, length = {16384},
                                    one = {1};
    fake.launches.clear();
    fake.tensor_maps.clear();
    dispatcher.launch(kStream, std::vector{Argument(f16, on_device(address), shape, stride),
                                           Argument(f16, on_device(0x40000000), length, one)});
    return fake.tensor_maps.empty() ? 0 : fake.tensor_maps[0].address;
  };
  EXPECT_EQ(launch(0x10000, 80), 0x10000U);
  EXPECT_EQ(fake.launches.size(), 1U);
  EXPECT_EQ(launch(0x20000, 88), 0x20000U) << "of the same kind";
  EXPECT_EQ(dispatcher.size(), 1U);
  EXPECT_EQ(launch(0x10002, 80), 0x5000U) << "a copy";
  EXPECT_EQ(fake.launches.size(), 2U);
  EXPECT_EQ(launch(0x10000, 81), 0x5000U);
  EXPECT_EQ(fake.launches.size(), 2U);
}

}  // namespace
}  // namespace tilejit
