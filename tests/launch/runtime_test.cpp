#include "tilejit/runtime.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "fake/expect_error.hpp"
#include "fake/fake_runtime.hpp"
#include "memory/device.hpp"
#include "tilejit/graph.hpp"

namespace tilejit {
namespace {

using launch::Internals;

TEST(Runtime, DescribesItsDevice) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  EXPECT_EQ(runtime.device().name, "Fake GPU");
  EXPECT_EQ(to_string(runtime.device().target), "sm_90a");
  EXPECT_EQ(runtime.device().multiprocessors, 132);
  EXPECT_EQ(runtime.device().memory_bytes, std::size_t{80} << 30);
  EXPECT_EQ(runtime.device().l2_bytes, 50 << 20);
}

TEST(Runtime, CompilesForTheTargetOfTheDevice) {
  constexpr struct {
    int major, minor;
    const char* target;
  } kTargets[] = {{7, 5, "sm_75"},    {8, 0, "sm_80"},    {8, 6, "sm_86"},
                  {8, 9, "sm_89"},    {9, 0, "sm_90a"},   {10, 0, "sm_100a"},
                  {10, 3, "sm_103a"}, {12, 0, "sm_120a"}, {12, 1, "sm_121a"}};
  for (const auto& c : kTargets) {
    EXPECT_EQ(to_string(memory::native_target(c.major, c.minor)), c.target);
  }
}

TEST(Runtime, RefusesADeviceThatIsNotThere) {
  FakeDriver fake;
  Options options = kInMemory;
  options.device = 3;
  expect_error(ErrorCode::no_device, "no device 3",
               [&] { (void)Internals::make_runtime(options, fake.table); });
  EXPECT_EQ(fake.alive(), 0);
}

TEST(Runtime, MakesItsContextCurrentWhenAsked) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  EXPECT_TRUE(fake.current.empty());
  runtime.make_current();
  EXPECT_EQ(fake.current.size(), 1U);
}

TEST(Runtime, WaitsForTheDevice) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  fake.fail_on["cuCtxSynchronize"] = CUDA_ERROR_ILLEGAL_ADDRESS;
  expect_error(ErrorCode::driver_call, "cuCtxSynchronize failed", [&] { runtime.synchronize(); });
  EXPECT_TRUE(fake.current.empty());
  fake.fail_on.clear();
  runtime.synchronize();
  EXPECT_TRUE(fake.current.empty());
}

TEST(QueryDriver, ListsDevices) {
  FakeDriver fake;
  fake.device_count = 2;
  const DriverInfo info = memory::describe_driver(fake.table);
  EXPECT_EQ(info.version, 13000);
  ASSERT_EQ(info.devices.size(), 2U);
  EXPECT_EQ(info.devices[1].ordinal, 1);
}

TEST(QueryDriver, IsEmptyWithoutADevice) {
  FakeDriver fake;
  fake.fail_on["cuInit"] = CUDA_ERROR_NO_DEVICE;
  const DriverInfo info = memory::describe_driver(fake.table);
  EXPECT_EQ(info.version, 13000);
  EXPECT_TRUE(info.devices.empty());
}

TEST(Runtime, WorksInAContextOfTheCallers) {
  FakeDriver fake;
  const auto context = reinterpret_cast<CUcontext>(4);
  {
    const Runtime runtime = Internals::make_runtime(kInMemory, fake.table, context);
    EXPECT_EQ(runtime.device().ordinal, 3);  // the context's, whatever Options::device says
    runtime.make_current();
    EXPECT_EQ(fake.current.back(), context);
  }
  EXPECT_EQ(fake.count("cuDevicePrimaryCtxRetain") + fake.count("cuDevicePrimaryCtxRelease"), 0);
}

TEST(Runtime, SeveralLiveSideBySideAndGoInAnyOrder) {
  FakeDriver fake;
  fake.device_count = 2;
  Options second = kInMemory;
  second.device = 1;
  std::optional<Runtime> one = Internals::make_runtime(kInMemory, fake.table);
  std::optional<Runtime> two = Internals::make_runtime(second, fake.table);
  std::optional<Kernel> kernel = load(*one, hand_plan());
  std::optional<Buffer> buffer(std::in_place, *two, 16);
  std::optional<OwnedStream> stream(std::in_place, *one);
  GraphBuilder builder(*one);
  (void)builder.kernel(*kernel, hand_arguments());
  std::optional<Graph> graph = builder.finish();
  std::optional<GraphExec> executable = graph->instantiate();
  one.reset();
  two.reset();
  kernel.reset();
  graph.reset();
  executable->launch(*stream);
  stream.reset();
  buffer.reset();
  executable.reset();
  builder = GraphBuilder(Internals::make_runtime(kInMemory, fake.table));
  EXPECT_EQ(fake.libraries + fake.streams + fake.buffers + fake.executables, 0);
}

}  // namespace
}  // namespace tilejit
