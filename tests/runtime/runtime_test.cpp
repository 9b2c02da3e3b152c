#include "tilejit/runtime.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <vector>

#include "runtime/device.hpp"
#include "runtime/expect_error.hpp"
#include "runtime/fake_runtime.hpp"
#include "tilejit/benchmark.hpp"

namespace tilejit {
namespace {

using runtime::Internals;

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
    EXPECT_EQ(to_string(runtime::native_target(c.major, c.minor)), c.target);
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

TEST(QueryDriver, ListsDevices) {
  FakeDriver fake;
  fake.device_count = 2;
  const DriverInfo info = runtime::describe_driver(fake.table);
  EXPECT_EQ(info.version, 13000);
  ASSERT_EQ(info.devices.size(), 2U);
  EXPECT_EQ(info.devices[1].ordinal, 1);
}

TEST(QueryDriver, IsEmptyWithoutADevice) {
  FakeDriver fake;
  fake.fail_on["cuInit"] = CUDA_ERROR_NO_DEVICE;
  const DriverInfo info = runtime::describe_driver(fake.table);
  EXPECT_EQ(info.version, 13000);
  EXPECT_TRUE(info.devices.empty());
}

/// Everything that calls the driver.
void use_everything(const driver::Table& table) {
  const Runtime runtime = Internals::make_runtime(kInMemory, table);
  runtime.make_current();
  HandPlan plan = hand_plan();
  plan.plan.index = plan::IndexWidth::both;
  const Kernel kernel = load(runtime, plan);
  kernel.launch(kStream, hand_arguments());
  (void)kernel.info();
  Buffer buffer(runtime, 16);
  std::array<char, 16> host = {};
  buffer.copy_from_host(host.data(), 16);
  buffer.copy_to_host(host.data(), 16);
  const std::vector<std::vector<Argument>> rotate = {hand_arguments()};
  (void)time_launches(runtime, kernel, rotate, {}, {.warmup = 1, .min_ms = 0, .max_ms = 0});
}

TEST(Runtime, SurvivesTheFailureOfEachDriverCall) {
  const std::set<std::string> destroying = {"cuDevicePrimaryCtxRelease", "cuCtxPopCurrent",
                                            "cuLibraryUnload",           "cuMemFree",
                                            "cuStreamDestroy",           "cuEventDestroy"};
  FakeDriver healthy;
  use_everything(healthy.table);
  EXPECT_EQ(healthy.alive(), 0);
  const std::vector<std::string> calls = healthy.calls;
  ASSERT_GT(calls.size(), 60U);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    SCOPED_TRACE(std::to_string(i) + " " + calls[i]);
    FakeDriver fake;
    fake.fail_at = static_cast<int>(i);
    std::string failed;
    try {
      use_everything(fake.table);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::driver_call);
      failed = error.where();
    }
    // A destructor's push is the one call of another kind that has nobody to tell.
    const bool silent = destroying.contains(calls[i]) ||
                        (calls[i] == "cuCtxPushCurrent" && calls[i + 1] == "cuMemFree");
    EXPECT_EQ(failed, silent ? "" : calls[i]);
    EXPECT_EQ(fake.alive(), 0);
  }
}

}  // namespace
}  // namespace tilejit
