#include "tilejit/kernel.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fake/expect_error.hpp"
#include "fake/fake_runtime.hpp"
#include "fake/shared_rows.hpp"

namespace tilejit {
namespace {

using launch::Internals;

TEST(Kernel, LaunchesOnTheStreamOfTheCaller) {
  FakeDriver fake;
  fake.param_bytes = 20;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const Kernel kernel = load(runtime, hand_plan());
  fake.calls.clear();
  kernel.launch(kStream, {on_device(0x10000), on_device(0x20000), 0.5});
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
    kernel.launch(kStream, {on_device(0), on_device(0x20000), 0.5});
  });
  empty.launch(kStream, {on_device(0)});
  EXPECT_TRUE(fake.calls.empty());
}

TEST(Kernel, PicksTheEntryForTheSize) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  HandPlan plan;
  plan.out("y", "N:1", u8).plan.family = plan::Map{.index = plan::IndexWidth::both};
  const Kernel kernel = load(runtime, plan);
  EXPECT_EQ(fake.entries, (std::vector<std::string>{"tilejit_hand", "tilejit_hand_wide"}));
  const std::vector<Argument> args = {on_device(0x1000)};
  kernel.launch(kStream, args, {{"N", 1000}});
  kernel.launch(kStream, args, {{"N", 1LL << 31}});
  ASSERT_EQ(fake.launches.size(), 2U);
  EXPECT_EQ(fake.launches[0].function, reinterpret_cast<CUfunction>(1));
  EXPECT_EQ(fake.launches[1].function, reinterpret_cast<CUfunction>(2));
}

TEST(Kernel, CombinesWhatBlocksLeaveInTheStreamsMemory) {
  FakeDriver fake;
  fake.param_bytes = 24;
  {
    const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
    const Kernel kernel = load(runtime, shared_rows());
    EXPECT_EQ(fake.entries, (std::vector<std::string>{"tilejit_hand", "tilejit_hand_combine"}));
    fake.calls.clear();
    kernel.launch(kStream, {on_device(0x10000), on_device(0x20000)});
    EXPECT_EQ(fake.calls,
              (std::vector<std::string>{"cuCtxPushCurrent", "cuStreamIsCapturing", "cuStreamGetId",
                                        "cuLaunchKernel", "cuLaunchKernelEx", "cuCtxPopCurrent"}))
        << "memory is there since the kernel was loaded";
    ASSERT_EQ(fake.launches.size(), 2U);
    EXPECT_EQ(fake.launches[0].blocks, 4000U);
    EXPECT_EQ(fake.launches[1].blocks, 250U);
    const auto memory = field_at<std::uint64_t>(fake.launches[0].params.data(), 16);
    EXPECT_NE(memory, 0U);
    for (const FakeDriver::Launch& launch : fake.launches) {
      EXPECT_EQ(field_at<std::uint64_t>(launch.params.data(), 16), memory);
      EXPECT_EQ(launch.stream, kStream);
    }
    EXPECT_FALSE(fake.launches[0].overlaps);
    EXPECT_TRUE(fake.launches[1].overlaps);
    kernel.launch(reinterpret_cast<Stream>(0x78), {on_device(0x10000), on_device(0x20000)});
    EXPECT_NE(field_at<std::uint64_t>(fake.launches[2].params.data(), 16), memory)
        << "streams run side by side";
    fake.calls.clear();
    fake.capturing = kStream;
    kernel.launch(kStream, {on_device(0x10000), on_device(0x20000)});
    EXPECT_EQ(fake.calls,
              (std::vector<std::string>{"cuCtxPushCurrent", "cuStreamIsCapturing",
                                        "cuMemAllocFromPoolAsync", "cuLaunchKernel",
                                        "cuLaunchKernelEx", "cuMemFreeAsync", "cuCtxPopCurrent"}));
    const auto buffers = fake.buffers;
    fake.fail_on = {{"cuLaunchKernelEx", CUDA_ERROR_UNKNOWN}};
    expect_error(ErrorCode::driver_call, "cuLaunchKernelEx", [&] {
      kernel.launch(kStream, {on_device(0x10000), on_device(0x20000)});
    });
    EXPECT_EQ(fake.buffers, buffers) << "freed behind a failure too";
    fake.fail_on = {{"cuMemAllocFromPoolAsync", CUDA_ERROR_OUT_OF_MEMORY}};
    expect_error(ErrorCode::driver_call, "free device memory", [&] {
      kernel.launch(kStream, {on_device(0x10000), on_device(0x20000)});
    });
    EXPECT_TRUE(fake.current.empty());
  }
  EXPECT_EQ(fake.alive(), 0);
}

TEST(Kernel, ThatCountsItsBlocksKeepsMemoryForEachStream) {
  FakeDriver fake;
  fake.param_bytes = 24;
  const Stream other = reinterpret_cast<Stream>(0x78);
  const std::vector<Argument> args = {on_device(0x10000), on_device(0x20000)};
  const auto memory_of = [&](std::size_t launch) {
    return field_at<std::uint64_t>(fake.launches.at(launch).params.data(), 16);
  };
  {
    const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
    const HandPlan plan = shared_rows(true);
    const Kernel kernel = load(runtime, plan);
    EXPECT_EQ(fake.entries, std::vector<std::string>{"tilejit_hand"});
    constexpr std::size_t kStreams = 16;
    const auto bytes = static_cast<std::size_t>(plan::partials_bytes(plan.plan));
    EXPECT_GE(fake.cleared, kStreams * bytes);
    EXPECT_EQ(fake.buffers, 1);
    const std::vector<std::string> calls = {"cuCtxPushCurrent", "cuStreamIsCapturing",
                                            "cuStreamGetId", "cuLaunchKernel", "cuCtxPopCurrent"};
    for (int launch = 0; launch < 2; ++launch) {
      fake.calls.clear();
      kernel.launch(kStream, args);
      EXPECT_EQ(fake.calls, calls);
    }
    kernel.launch(other, args);
    EXPECT_EQ(memory_of(1), memory_of(0));
    EXPECT_GE(memory_of(2), memory_of(0) + bytes) << "streams run side by side";
    fake.stream_ids[kStream] = 0x99;  // another stream by the same handle
    kernel.launch(kStream, args);
    EXPECT_GE(memory_of(3), memory_of(2) + bytes);
    for (const FakeDriver::Launch& launch : fake.launches) EXPECT_EQ(launch.blocks, 4000U);

    // Captured work may run concurrently with the stream.
    const std::vector<std::string> own_calls = {
        "cuCtxPushCurrent", "cuStreamIsCapturing", "cuMemAllocFromPoolAsync", "cuMemsetD8Async",
        "cuLaunchKernel",   "cuMemFreeAsync",      "cuCtxPopCurrent"};
    fake.capturing = kStream;
    fake.calls.clear();
    kernel.launch(kStream, args);
    EXPECT_EQ(fake.calls, own_calls);
    fake.capturing = nullptr;
    for (std::size_t i = 3; i < kStreams; ++i) {
      kernel.launch(reinterpret_cast<Stream>(0x100 + i), args);
    }
    EXPECT_EQ(memory_of(kStreams + 1),
              memory_of(0) + (kStreams - 1) * (memory_of(2) - memory_of(0)));
    fake.calls.clear();
    kernel.launch(reinterpret_cast<Stream>(0x200), args);
    std::vector<std::string> late_calls = own_calls;
    late_calls.insert(late_calls.begin() + 2, "cuStreamGetId");
    EXPECT_EQ(fake.calls, late_calls) << "no memory is left";
    EXPECT_EQ(fake.buffers, 1);
  }
  EXPECT_EQ(fake.alive(), 0);
}

TEST(Kernel, ThatCannotClearItsMemoryIsLoadedAgain) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  fake.fail_on = {{"cuMemsetD8Async", CUDA_ERROR_UNKNOWN}};
  expect_error(ErrorCode::driver_call, "cuMemsetD8Async",
               [&] { (void)load(runtime, shared_rows(true)); });
  EXPECT_EQ(fake.buffers, 0);
  EXPECT_EQ(fake.streams, 0);
  fake.fail_on = {};
  load(runtime, shared_rows(true)).launch(kStream, {on_device(0x10000), on_device(0x20000)});
  EXPECT_EQ(fake.launches.size(), 1U);
}

/// Rows of 4 KB; each block of a cluster of 8 loads its next row while it processes one.
HandPlan rows_ahead() {
  HandPlan plan;
  plan.in("x", "(1000,1024):(1024,1)").out("y", "(1000,1024):(1024,1)");
  plan.plan.family = plan::Rows{
      .first = 0, .row_threads = 128, .cluster = 8, .register_vectors = 1, .ahead = true};
  plan.plan.threads = 128;
  for (plan::Operand& operand : plan.plan.operands) operand.access_bytes = 16;
  return plan;
}

TEST(Kernel, LaunchesAsManyBlocksAsTheDeviceRunsWhereTheyLoadAhead) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const HandPlan plan = rows_ahead();
  const Kernel kernel = load(runtime, plan);
  EXPECT_EQ(fake.count("cuFuncSetAttribute"), 1);
  kernel.launch(kStream, {on_device(0x1000000), on_device(0x2000000)});
  ASSERT_EQ(fake.launches.size(), 1U);
  EXPECT_EQ(fake.launches[0].blocks, 15U * 8);
  EXPECT_EQ(fake.launches[0].shared_bytes, plan::dynamic_shared_bytes(plan.plan));
  EXPECT_EQ(plan::dynamic_shared_bytes(plan.plan), 114 * 1024);  // no room for a second block
}

TEST(Kernel, IsNotLoadedWhereTheDriverGivesItNoSharedMemory) {
  for (const char* call : {"cuFuncSetAttribute", "cuOccupancyMaxActiveClusters"}) {
    FakeDriver fake;
    fake.fail_on[call] = CUDA_ERROR_UNKNOWN;
    const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
    expect_error(ErrorCode::driver_call, call, [&] { (void)load(runtime, rows_ahead()); });
    EXPECT_EQ(fake.libraries, 0);
  }
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
  launch::Libraries libraries(Internals::context(runtime));
  Artifact other = hand_artifact();
  other.key = "other";
  const operation::LaunchPlan plan{.steps = {{.entry = "tilejit_hand"}}};
  const auto first = libraries.find_or_load(hand_artifact(), plan);
  EXPECT_EQ(libraries.find_or_load(hand_artifact(), plan), first);
  EXPECT_NE(libraries.find_or_load(other, plan), first);
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

}  // namespace
}  // namespace tilejit
