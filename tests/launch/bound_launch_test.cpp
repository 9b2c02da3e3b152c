#include "tilejit/bound_launch.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "fake/expect_error.hpp"
#include "fake/fake_runtime.hpp"

namespace tilejit {
namespace {

using launch::Internals;

class Bound : public testing::Test {
 protected:
  Bound() { fake.param_bytes = 20; }

  [[nodiscard]] std::uint64_t address(std::size_t launch, int tensor) const {
    return field_at<std::uint64_t>(fake.launches.at(launch).params.data(), 8 * tensor);
  }

  FakeDriver fake;
  Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  Kernel kernel = load(runtime, hand_plan());
};

TEST_F(Bound, LaunchesAsTheKernelDoes) {
  kernel.launch(kStream, hand_arguments());
  const BoundLaunch bound = kernel.bind(hand_arguments());
  fake.calls.clear();
  bound.launch(kStream);
  EXPECT_EQ(fake.calls, std::vector<std::string>{"cuLaunchKernel"});
  ASSERT_EQ(fake.launches.size(), 2U);
  EXPECT_EQ(fake.launches[0].params, fake.launches[1].params);
  EXPECT_EQ(fake.launches[1].blocks, 8U);
  EXPECT_EQ(fake.launches[1].stream, kStream);
  EXPECT_EQ(bound.blocks(), 8U);
  EXPECT_EQ(bound.kernel().artifact().key, "key");
}

TEST_F(Bound, TakesOtherAddressesAndScalars) {
  BoundLaunch bound = kernel.bind(hand_arguments());
  const BoundLaunch copy = bound;
  bound.set(0, on_device(0x30000));
  bound.set({{1, on_device(0x40000)}, {2, 2.0}});
  bound.launch(kStream);
  copy.launch(kStream);
  EXPECT_EQ(address(0, 0), 0x30000U);
  EXPECT_EQ(address(0, 1), 0x40000U);
  EXPECT_EQ(field_at<float>(fake.launches[0].params.data(), 16), 2.0F);
  EXPECT_EQ(address(1, 0), 0x10000U);  // earlier copies are unchanged
}

TEST_F(Bound, StaysAsItWasBehindABadChange) {
  BoundLaunch bound = kernel.bind(hand_arguments());
  const std::array<std::int64_t, 2> shape = {64, 31}, stride = {31, 1};
  const Argument other_shape(f32, on_device(0x30000), shape, stride);
  const struct {
    const char* text;
    std::size_t argument;
    Argument value;
  } kBad[] = {
      {"is a null pointer", 0, on_device(0)},
      {"is aligned to 8 bytes only", 0, on_device(0x10008)},
      {"overlaps tensor 'x'", 1, on_device(0x10010)},
      {"got a number", 1, 3},
      {"wants 32", 0, other_shape},
      {"got a pointer", 2, on_device(0x30000)},
      {"there is no argument 3", 3, 1.0},
  };
  for (const auto& bad : kBad) {
    SCOPED_TRACE(bad.text);
    expect_error(ErrorCode::invalid_argument, bad.text, [&] {
      bound.set({{2, 9.0}, {bad.argument, bad.value}});
    });
  }
  bound.launch(kStream);
  EXPECT_EQ(address(0, 0), 0x10000U);
  EXPECT_EQ(address(0, 1), 0x20000U);
  EXPECT_EQ(field_at<float>(fake.launches[0].params.data(), 16), 0.5F);
}

TEST_F(Bound, TensorsMayChangePlaces) {
  HandPlan plan;  // shapes whose tensors may not replace each other
  plan.in("x", "(64,32):(32,1)").out("y", "(64,32):(1,64)");
  BoundLaunch bound = load(runtime, plan).bind({on_device(0x10000), on_device(0x20000)});
  expect_error(ErrorCode::invalid_argument, "overlaps", [&] { bound.set(0, on_device(0x20000)); });
  bound.set({{0, on_device(0x20000)}, {1, on_device(0x10000)}});
  bound.launch(kStream);
  EXPECT_EQ(address(0, 0), 0x20000U);
  EXPECT_EQ(address(0, 1), 0x10000U);
}

TEST_F(Bound, KeepsTheSizesOfItsSymbols) {
  HandPlan plan;
  plan.in("x", "(M,N):(N,1)").out("y", "(M,N):(N,1)").dim("N");
  std::array<std::int64_t, 2> shape = {64, 32}, stride = {32, 1};
  fake.param_bytes = 24;
  BoundLaunch bound = load(runtime, plan)
                          .bind({{f32, on_device(0x10000), shape, stride},
                                 {f32, on_device(0x20000), shape, stride}});
  shape = {1, 1};  // the passed arguments are not read again
  bound.set(1, on_device(0x30000));
  const std::array<std::int64_t, 2> same = {64, 32};
  bound.set(0, {f32, on_device(0x50000), same, stride});
  bound.launch(kStream);
  EXPECT_EQ(address(0, 0), 0x50000U);
  EXPECT_EQ(field_at<std::int64_t>(fake.launches[0].params.data(), 16), 32);
  EXPECT_EQ(fake.launches[0].blocks, 8U);
}

TEST_F(Bound, LaunchesNothingForNoElements) {
  HandPlan plan;
  plan.out("y", "0:1");
  const BoundLaunch bound = load(runtime, plan).bind({on_device(0)});
  fake.calls.clear();
  bound.launch(kStream);
  EXPECT_EQ(bound.blocks(), 0U);
  EXPECT_TRUE(fake.calls.empty());
}

TEST_F(Bound, LaunchesFromAThreadWithoutAContext) {
  fake.launch_needs_context = true;
  const BoundLaunch bound = kernel.bind(hand_arguments());
  fake.calls.clear();
  bound.launch(nullptr);
  EXPECT_EQ(fake.calls, (std::vector<std::string>{"cuLaunchKernel", "cuCtxPushCurrent",
                                                  "cuLaunchKernel", "cuCtxPopCurrent"}));
}

}  // namespace
}  // namespace tilejit
