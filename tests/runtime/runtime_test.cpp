#include "tilejit/runtime.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/device.hpp"
#include "runtime/expect_error.hpp"
#include "runtime/fake_driver.hpp"
#include "runtime/hand_plans.hpp"
#include "runtime/internals.hpp"

namespace tilejit {
namespace {

using runtime::Internals;

const Options kInMemory{.cache_folder = std::nullopt};

HandPlan hand_plan() {
  HandPlan plan;
  plan.in("x", "(64,32):(32,1)").out("y", "(64,32):(32,1)").scalar("alpha", f32);
  return plan;
}

Artifact hand_artifact() {
  Artifact artifact;
  artifact.key = "key";
  artifact.kernel_name = "tilejit_hand";
  artifact.cubin = std::make_shared<const std::string>("cubin");
  artifact.metadata = std::make_shared<const std::string>("{}");
  return artifact;
}

Kernel load(const Runtime& runtime, const HandPlan& plan) {
  auto library =
      runtime::load_library(Internals::context(runtime), hand_artifact(), plan.plan.index);
  return Internals::make_kernel(std::move(library), hand_artifact(), plan.op, plan.analysis,
                                plan.plan);
}

std::vector<Argument> hand_arguments() {
  return {device(0x10000), device(0x20000), 0.5};
}

const Stream kStream = reinterpret_cast<Stream>(0x77);

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

TEST(Kernel, LaunchesOnTheStreamOfTheCaller) {
  FakeDriver fake;
  fake.param_bytes = 20;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const Kernel kernel = load(runtime, hand_plan());
  fake.calls.clear();
  kernel.launch(kStream, {device(0x10000), device(0x20000), 0.5});
  EXPECT_EQ(fake.calls, std::vector<std::string>{"cuLaunchKernel"});  // and nothing else
  ASSERT_EQ(fake.launches.size(), 1U);
  const FakeDriver::Launch& launch = fake.launches[0];
  EXPECT_EQ(launch.blocks, 8U);
  EXPECT_EQ(launch.threads, 256U);
  EXPECT_EQ(launch.stream, kStream);
  EXPECT_EQ(field_at<std::uint64_t>(launch.params.data(), 8), 0x20000U);
  EXPECT_EQ(field_at<float>(launch.params.data(), 16), 0.5F);
}

TEST(Kernel, DoesNotReachTheDriverWithBadArgumentsOrNothingToDo) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const Kernel kernel = load(runtime, hand_plan());
  HandPlan nothing;
  nothing.out("y", "0:1");
  const Kernel empty = load(runtime, nothing);
  fake.calls.clear();
  expect_error(ErrorCode::invalid_argument, "null pointer", [&] {
    kernel.launch(kStream, {device(0), device(0x20000), 0.5});
  });
  empty.launch(kStream, {device(0)});
  EXPECT_TRUE(fake.calls.empty());
}

TEST(Kernel, PicksTheEntryForTheSize) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  HandPlan plan;
  plan.out("y", "N:1", u8).plan.index = plan::IndexWidth::both;
  const Kernel kernel = load(runtime, plan);
  EXPECT_EQ(fake.entries, (std::vector<std::string>{"tilejit_hand", "tilejit_hand_wide"}));
  const std::vector<Argument> args = {device(0x1000)};
  kernel.launch(kStream, args, {{"N", 1000}});
  kernel.launch(kStream, args, {{"N", 1LL << 31}});
  ASSERT_EQ(fake.launches.size(), 2U);
  EXPECT_EQ(fake.launches[0].function, reinterpret_cast<CUfunction>(1));
  EXPECT_EQ(fake.launches[1].function, reinterpret_cast<CUfunction>(2));
}

TEST(Kernel, LaunchesFromAThreadWithoutAContext) {
  FakeDriver fake;
  fake.launch_needs_context = true;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const Kernel kernel = load(runtime, hand_plan());
  fake.calls.clear();
  kernel.launch(nullptr, hand_arguments());
  EXPECT_EQ(fake.calls, (std::vector<std::string>{"cuLaunchKernel", "cuCtxPushCurrent",
                                                  "cuLaunchKernel", "cuCtxPopCurrent"}));
  EXPECT_EQ(fake.launches.size(), 1U);
  runtime.make_current();
  fake.calls.clear();
  kernel.launch(nullptr, hand_arguments());
  EXPECT_EQ(fake.calls, std::vector<std::string>{"cuLaunchKernel"});
}

TEST(Kernel, TriesAContextOnlyOnce) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const Kernel kernel = load(runtime, hand_plan());
  fake.fail_on["cuLaunchKernel"] = CUDA_ERROR_INVALID_CONTEXT;
  expect_error(ErrorCode::driver_call, "context of the stream's device",
               [&] { kernel.launch(kStream, hand_arguments()); });
  EXPECT_EQ(fake.count("cuLaunchKernel"), 2);
  EXPECT_TRUE(fake.current.empty());
}

TEST(Kernel, OutlivesItsRuntime) {
  FakeDriver fake;
  std::optional<Kernel> copy;
  {
    const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
    const Kernel kernel = load(runtime, hand_plan());
    copy = kernel;
  }
  EXPECT_EQ(fake.contexts, 1);
  EXPECT_EQ(fake.libraries, 1);
  copy->launch(kStream, hand_arguments());
  copy.reset();
  EXPECT_EQ(fake.alive(), 0);
  EXPECT_EQ(fake.calls.back(), "cuDevicePrimaryCtxRelease");  // after the library
}

TEST(Kernel, TellsWhatTheDriverKnows) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const KernelInfo info = load(runtime, hand_plan()).info();
  EXPECT_EQ(info.registers, 100 + CU_FUNC_ATTRIBUTE_NUM_REGS);
  EXPECT_EQ(info.local_bytes, 100 + CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  EXPECT_EQ(info.shared_bytes, 100 + CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  EXPECT_EQ(info.threads, 256);
  EXPECT_EQ(info.blocks_per_sm, 8);
  EXPECT_TRUE(fake.current.empty());
}

TEST(Libraries, LoadEveryKeyOnce) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  runtime::Libraries libraries(Internals::context(runtime));
  Artifact other = hand_artifact();
  other.key = "other";
  const auto first = libraries.find_or_load(hand_artifact(), plan::IndexWidth::narrow);
  EXPECT_EQ(libraries.find_or_load(hand_artifact(), plan::IndexWidth::narrow), first);
  EXPECT_NE(libraries.find_or_load(other, plan::IndexWidth::narrow), first);
  EXPECT_EQ(fake.count("cuLibraryLoadData"), 2);
}

TEST(LoadLibrary, ExplainsARefusedCubin) {
  for (const char* call : {"cuLibraryLoadData", "cuLibraryGetKernel", "cuKernelGetFunction"}) {
    for (const CUresult refusal : {CUDA_ERROR_INVALID_IMAGE, CUDA_ERROR_NO_BINARY_FOR_GPU,
                                   CUDA_ERROR_UNSUPPORTED_PTX_VERSION}) {
      SCOPED_TRACE(call);
      FakeDriver fake;
      fake.version = 12080;
      const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
      fake.fail_on[call] = refusal;
      EXPECT_EQ(
          expect_error(ErrorCode::no_driver, "sm_90a", [&] { (void)load(runtime, hand_plan()); }),
          call);
      expect_error(ErrorCode::no_driver, "it supports CUDA 12.8",
                   [&] { (void)load(runtime, hand_plan()); });
      EXPECT_EQ(fake.libraries, 0);
    }
  }
}

TEST(Buffer, CopiesToAndFro) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  Buffer buffer(runtime, 16);
  EXPECT_EQ(buffer.size_bytes(), 16U);
  const std::array<std::int32_t, 4> sent = {1, 2, 3, 4};
  std::array<std::int32_t, 4> received = {};
  buffer.copy_from_host(sent.data(), 16);
  buffer.copy_to_host(received.data(), 16);
  EXPECT_EQ(received, sent);
  EXPECT_EQ(fake.count("cuStreamSynchronize"), 2);
  EXPECT_EQ(Argument(buffer).address, reinterpret_cast<std::uintptr_t>(buffer.data()));
}

TEST(Buffer, RefusesToCopyBeyondItsEnd) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  Buffer buffer(runtime, 16);
  std::array<char, 32> host = {};
  expect_error(ErrorCode::invalid_argument, "17 bytes does not fit",
               [&] { buffer.copy_from_host(host.data(), 17); });
  expect_error(ErrorCode::invalid_argument, "17 bytes does not fit",
               [&] { buffer.copy_to_host(host.data(), 17); });
  EXPECT_EQ(fake.count("cuMemcpyHtoDAsync") + fake.count("cuMemcpyDtoHAsync"), 0);
}

TEST(Buffer, OwnsItsMemoryAloneAndKeepsTheContext) {
  FakeDriver fake;
  {
    std::optional<Runtime> runtime(Internals::make_runtime(kInMemory, fake.table));
    Buffer first(*runtime, 16);
    Buffer second(*runtime, 32);
    void* const data = first.data();
    second = std::move(first);
    EXPECT_EQ(fake.buffers, 1);  // what `second` held is freed at once
    const Buffer third = std::move(second);
    EXPECT_EQ(third.data(), data);
    EXPECT_EQ(second.data(), nullptr);  // NOLINT: a moved-from buffer is empty
    EXPECT_EQ(Buffer(*runtime, 0).data(), nullptr);
    runtime.reset();
    EXPECT_EQ(fake.contexts, 1);
  }
  EXPECT_EQ(fake.alive(), 0);
  EXPECT_EQ(fake.count("cuMemFree"), 2);
}

TEST(Timing, SummarisesIterationsAndRotatesArguments) {
  FakeDriver fake;
  fake.param_bytes = 8;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const Kernel kernel = load(runtime, hand_plan());
  const std::vector<std::vector<Argument>> rotate = {{device(0x10000), device(0x20000), 0.5},
                                                     {device(0x30000), device(0x40000), 0.5}};
  const Timing timing = time_launches(runtime, kernel, rotate, {}, 3, 10);
  EXPECT_EQ(timing.iterations, 10);
  EXPECT_DOUBLE_EQ(timing.min_ms, 1);
  EXPECT_DOUBLE_EQ(timing.median_ms, 5.5);
  EXPECT_DOUBLE_EQ(timing.p90_ms, 9);
  ASSERT_EQ(fake.launches.size(), 13U);
  std::vector<std::uint64_t> first;
  for (const auto& launch : fake.launches) {
    first.push_back(field_at<std::uint64_t>(launch.params.data(), 0));
  }
  EXPECT_EQ(first[0], 0x10000U);
  EXPECT_EQ(first[1], 0x30000U);
  EXPECT_EQ(first[12], 0x10000U);
  EXPECT_EQ(fake.streams + fake.events, 0);
}

TEST(Timing, TimesCopies) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const Timing timing = time_copy(runtime, 1 << 20, 2, 5);
  EXPECT_DOUBLE_EQ(timing.median_ms, 3);
  EXPECT_EQ(fake.count("cuMemcpyDtoDAsync"), 7);
  EXPECT_EQ(fake.buffers, 0);
}

TEST(Timing, RefusesWhatCannotBeTimed) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const Kernel kernel = load(runtime, hand_plan());
  const std::vector<std::vector<Argument>> rotate = {hand_arguments()};
  expect_error(ErrorCode::invalid_argument, "at least one set",
               [&] { (void)time_launches(runtime, kernel, {}); });
  expect_error(ErrorCode::invalid_argument, "at least 1 iteration",
               [&] { (void)time_launches(runtime, kernel, rotate, {}, 5, 0); });
  expect_error(ErrorCode::invalid_argument, "no negative warm-up",
               [&] { (void)time_copy(runtime, 16, -1, 1); });
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
  (void)time_launches(runtime, kernel, rotate, {}, 1, 2);
  (void)time_copy(runtime, 16, 1, 1);
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
