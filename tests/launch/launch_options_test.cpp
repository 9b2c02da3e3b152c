#include "tilejit/launch_options.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "fake/expect_error.hpp"
#include "fake/fake_runtime.hpp"
#include "fake/shared_rows.hpp"
#include "tilejit/bound_launch.hpp"

namespace tilejit {
namespace {

using launch::Internals;

std::map<CUlaunchAttributeID, CUlaunchAttributeValue> attributes_of(
    const FakeDriver::Launch& launch) {
  std::map<CUlaunchAttributeID, CUlaunchAttributeValue> found;
  for (const CUlaunchAttribute& attribute : launch.attributes) {
    found[attribute.id] = attribute.value;
  }
  return found;
}

TEST(LaunchOptions, ReachTheDriverAsAttributes) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const Kernel kernel = load(runtime, hand_plan());
  const LaunchOptions options{.overlap = true,
                              .cooperative = true,
                              .priority = -3,
                              .shared_carveout = 50,
                              .cluster = 4,
                              .shared_bytes = 100'000};
  kernel.launch(kStream, hand_arguments(), {}, options);
  const BoundLaunch bound = kernel.bind(hand_arguments(), {}, options);
  fake.calls.clear();
  bound.launch(kStream);
  EXPECT_EQ(fake.calls, std::vector<std::string>{"cuLaunchKernelEx"});
  ASSERT_EQ(fake.launches.size(), 2U);
  for (const FakeDriver::Launch& launch : fake.launches) {
    EXPECT_EQ(launch.shared_bytes, 100'000U);
    auto found = attributes_of(launch);
    EXPECT_EQ(found.size(), 5U);
    EXPECT_EQ(found[CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION]
                  .programmaticStreamSerializationAllowed,
              1);
    EXPECT_EQ(found[CU_LAUNCH_ATTRIBUTE_COOPERATIVE].cooperative, 1);
    EXPECT_EQ(found[CU_LAUNCH_ATTRIBUTE_PRIORITY].priority, -3);
    EXPECT_EQ(found[CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT].sharedMemCarveout, 50U);
    EXPECT_EQ(found[CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION].clusterDim.x, 4U);
  }
}

TEST(LaunchOptions, OfNothingSpecialAreAPlainLaunch) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const Kernel kernel = load(runtime, hand_plan());
  fake.calls.clear();
  kernel.launch(kStream, hand_arguments(), {}, {});
  kernel.bind(hand_arguments(), {}, {.cluster = 1}).launch(kStream);
  EXPECT_EQ(fake.calls, (std::vector<std::string>{"cuLaunchKernel", "cuLaunchKernel"}));
}

TEST(LaunchOptions, AreHeldAgainstTheDevicesNumbers) {
  const struct {
    const char* text;
    LaunchOptions options;
    int major = 9;
  } kRefused[] = {
      {"compute capability 9.0 or above, and this one has 8.x", {.overlap = true}, 8},
      {"the priority -6 is not between -5 and 0", {.priority = -6}},
      {"the priority 1 is not between -5 and 0", {.priority = 1}},
      {"0 to 100 percent, not 101", {.shared_carveout = 101}},
      {"0 to 100 percent, not -1", {.shared_carveout = -1}},
      {"1 to 8 blocks, not 16", {.cluster = 16}},
      {"1 to 8 blocks, not 0", {.cluster = 0}},
      {"the grid of 8 blocks is not a multiple of a cluster of 3", {.cluster = 3}},
      {"this device has no clusters (compute capability 8.x)", {.cluster = 2}, 8},
      {"cannot take -1 bytes", {.shared_bytes = -1}},
      {"232501 bytes of shared memory (101 of the kernel's own and 232400 more), and this device "
       "gives it at most 232448",
       {.shared_bytes = 232'400}},
      {"no cooperative launches", {.cooperative = true}, 8},
  };
  for (const auto& row : kRefused) {
    SCOPED_TRACE(row.text);
    FakeDriver fake;
    fake.capability_major = row.major;
    fake.has_clusters = fake.has_cooperative = row.major >= 9;
    const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
    const Kernel kernel = load(runtime, hand_plan());
    expect_error(ErrorCode::unsupported, row.text,
                 [&] { kernel.launch(kStream, hand_arguments(), {}, row.options); });
    expect_error(ErrorCode::unsupported, row.text,
                 [&] { (void)kernel.bind(hand_arguments(), {}, row.options); });
    EXPECT_TRUE(fake.launches.empty());
    EXPECT_TRUE(fake.current.empty());
  }
}

TEST(LaunchOptions, ACooperativeGridIsResident) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  HandPlan plan;
  plan.out("y", "(1057,256):(256,1)");
  const Kernel kernel = load(runtime, plan);
  expect_error(ErrorCode::unsupported,
               "a cooperative launch of 1057 blocks: this device runs 1056 of this kernel at once "
               "(132 multiprocessors with 8 each)",
               [&] { kernel.launch(kStream, {on_device(0x1000)}, {}, {.cooperative = true}); });
}

TEST(LaunchOptions, KernelsWithClustersKeepThem) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  HandPlan plan;
  plan.in("x", "(100,64)").out("y", "(100,64)");
  plan.plan.family = plan::Rows{.first = 0, .row_threads = 128, .cluster = 4};
  plan.plan.threads = 128;
  const Kernel kernel = load(runtime, plan);
  expect_error(ErrorCode::unsupported, "clusters of 4 blocks already", [&] {
    kernel.launch(kStream, {on_device(0x10000), on_device(0x20000)}, {}, {.cluster = 2});
  });
}

TEST(LaunchOptions, OfAKernelInTwoParts) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const Kernel kernel = load(runtime, shared_rows());
  kernel.launch(kStream, {on_device(0x10000), on_device(0x20000)}, {},
                {.overlap = true, .priority = -1, .shared_carveout = 20});
  ASSERT_EQ(fake.launches.size(), 2U);
  auto first = attributes_of(fake.launches[0]), second = attributes_of(fake.launches[1]);
  EXPECT_EQ(first.size(), 3U);
  EXPECT_TRUE(first.contains(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION));
  EXPECT_EQ(first[CU_LAUNCH_ATTRIBUTE_PRIORITY].priority, -1);
  EXPECT_EQ(first[CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT].sharedMemCarveout, 20U);
  EXPECT_EQ(second.size(), 2U);
  EXPECT_TRUE(second.contains(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION));
  EXPECT_EQ(second[CU_LAUNCH_ATTRIBUTE_PRIORITY].priority, -1);
}

TEST(Limits, APlanForALargerDeviceIsRefusedBeforeItIsLoaded) {
  const auto refused = [](const std::string& text, const HandPlan& plan) {
    SCOPED_TRACE(text);
    FakeDriver fake;
    fake.has_clusters = false;
    fake.shared_limit = 100 << 10;
    const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
    expect_error(ErrorCode::unsupported, text, [&] { (void)load(runtime, plan); });
    EXPECT_EQ(fake.count("cuLibraryLoadData"), 0);
  };
  HandPlan threads = hand_plan();
  threads.plan.threads = 2048;
  refused("2048 threads a block, and this device takes at most 1024", threads);
  HandPlan cluster = hand_plan();
  cluster.plan.family = plan::Rows{.first = 0, .row_threads = 256, .cluster = 2};
  refused("2 blocks a cluster, and this device takes at most 1", cluster);
  HandPlan shared = hand_plan();
  shared.plan.family =
      plan::Rows{.first = 0, .row_threads = 256, .register_vectors = 1, .ahead = true};
  for (plan::Operand& operand : shared.plan.operands) operand.access_bytes = 16;
  shared.plan.vector = 4;
  refused("bytes of shared memory a block, and this device takes at most 102400", shared);
}

}  // namespace
}  // namespace tilejit
