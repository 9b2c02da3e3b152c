// Each driver call fails in turn: nothing leaks, nothing crashes, and the message names the call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "fake/fake_runtime.hpp"
#include "fake/shared_rows.hpp"
#include "fake/silent_calls.hpp"
#include "tilejit/benchmark.hpp"
#include "tilejit/bound_launch.hpp"
#include "tilejit/error.hpp"
#include "tilejit/graph.hpp"
#include "tilejit/stream.hpp"

namespace tilejit {
namespace {

using launch::Internals;

void use_kernels(const driver::Table& table) {
  const Runtime runtime = Internals::make_runtime(kInMemory, table);
  runtime.make_current();
  HandPlan plan = hand_plan();
  plan.plan.family = plan::Map{.index = plan::IndexWidth::both};
  const Kernel kernel = load(runtime, plan);
  kernel.launch(kStream, hand_arguments());
  const LaunchOptions options{.overlap = true, .cooperative = true, .shared_bytes = 1000};
  kernel.launch(kStream, hand_arguments(), {}, options);
  BoundLaunch bound = kernel.bind(hand_arguments(), {}, options);
  bound.set(0, on_device(0x30000));
  bound.launch(kStream);
  (void)kernel.info();
  const Kernel shares = load(runtime, shared_rows());
  shares.launch(kStream, {on_device(0x10000), on_device(0x20000)}, {}, {.priority = -1});
}

void use_memory_and_time(const driver::Table& table) {
  const Runtime runtime = Internals::make_runtime(kInMemory, table);
  const Kernel kernel = load(runtime, hand_plan());
  Buffer buffer(runtime, 16);
  std::array<char, 16> host = {};
  buffer.copy_from_host(host.data(), 16);
  buffer.copy_to_host(host.data(), 16);
  const std::vector<std::vector<Argument>> rotate = {hand_arguments()};
  (void)time_launches(runtime, kernel, rotate, {}, {.warmup = 1, .min_ms = 0, .max_ms = 0});
}

void use_streams(const driver::Table& table) {
  const Runtime runtime = Internals::make_runtime(kInMemory, table, reinterpret_cast<CUcontext>(1));
  const OwnedStream stream(runtime, {.priority = -1});
  Event begin(runtime, Event::Timing::on), end(runtime, Event::Timing::on);
  begin.record(stream);
  end.record(stream);
  end.wait(stream);
  end.synchronize();
  (void)end.is_done();
  (void)end.milliseconds_since(begin);
  stream.synchronize();
  (void)stream.is_idle();
}

void use_graphs(const driver::Table& table) {
  const Runtime runtime = Internals::make_runtime(kInMemory, table);
  const Kernel kernel = load(runtime, hand_plan());
  const Kernel shares = load(runtime, shared_rows());
  const Event event(runtime);
  GraphBuilder builder(runtime);
  const Node sum = builder.kernel(shares, {on_device(0x10000), on_device(0x20000)});
  const Graph inner = builder.finish();
  const Graph copy = inner.clone();
  const Node launch = builder.kernel(kernel.bind(hand_arguments(), {}, {.priority = -1}));
  const Node moved = builder.copy(on_device(0x1000), on_device(0x2000), 16, launch);
  const Node filled = builder.fill(on_device(0x1000), 0, 16, 1, moved);
  (void)builder.record(event, filled);
  (void)builder.wait(event, filled);
  (void)builder.child(inner, filled);
  (void)builder.join({launch, filled});
  const Graph graph = builder.finish();
  GraphExec executable = graph.instantiate(), of_copy = copy.instantiate();
  executable.update(launch, hand_arguments());
  of_copy.update(sum, {on_device(0x30000), on_device(0x40000)});
  of_copy.update(copy);
  executable.launch(kStream);
  (void)graph.size();
  (void)graph.to_dot();
  (void)graph.to_svg();
}

void use_captures(const driver::Table& table) {
  const Runtime runtime = Internals::make_runtime(kInMemory, table);
  const Kernel shares = load(runtime, shared_rows());
  Capture capture(runtime, kStream);
  shares.launch(kStream, {on_device(0x10000), on_device(0x20000)});
  capture.pass("a place");
  const Graph graph = capture.end();
  (void)graph.instantiate();
}

void fail_each_call(void (*use)(const driver::Table&), std::size_t at_least) {
  FakeDriver healthy;
  use(healthy.table);
  EXPECT_EQ(healthy.alive(), 0);
  EXPECT_TRUE(healthy.current.empty() || healthy.current.size() == 1);  // made so on request
  const std::vector<std::string> calls = healthy.calls;
  ASSERT_GE(calls.size(), at_least);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    SCOPED_TRACE(std::to_string(i) + " " + calls[i]);
    FakeDriver fake;
    fake.fail_at = static_cast<int>(i);
    std::string failed, text;
    try {
      use(fake.table);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::driver_call);
      failed = error.where();
      text = error.what();
    }
    EXPECT_EQ(failed, is_silent(calls, i) ? "" : calls[i]);
    if (!failed.empty()) {
      EXPECT_THAT(text, testing::StartsWith(calls[i] + " failed"));
    }
    EXPECT_EQ(fake.alive(), 0);
  }
}

TEST(Failures, OfKernels) {
  fail_each_call(use_kernels, 50);
}
TEST(Failures, OfMemoryAndTiming) {
  fail_each_call(use_memory_and_time, 50);
}
TEST(Failures, OfStreams) {
  fail_each_call(use_streams, 30);
}
TEST(Failures, OfGraphs) {
  fail_each_call(use_graphs, 90);
}
TEST(Failures, OfCaptures) {
  fail_each_call(use_captures, 40);
}

TEST(Failures, ADriverThatHasGoneIsNoMatterToDestructors) {
  for (const auto use : {use_kernels, use_memory_and_time, use_streams, use_graphs, use_captures}) {
    FakeDriver fake;
    for (const char* call : {"cuDevicePrimaryCtxRelease", "cuLibraryUnload", "cuMemFree",
                             "cuMemFreeAsync", "cuMemPoolDestroy", "cuStreamDestroy",
                             "cuEventDestroy", "cuGraphDestroy", "cuGraphExecDestroy"}) {
      fake.fail_on[call] = CUDA_ERROR_DEINITIALIZED;
    }
    EXPECT_NO_THROW(use(fake.table));
    EXPECT_EQ(fake.alive(), 0);
  }
}

TEST(Failures, NothingOfADeviceThatWasResetIsTouched) {
  for (const auto use : {use_kernels, use_memory_and_time, use_streams, use_graphs, use_captures}) {
    FakeDriver healthy;
    use(healthy.table);
    // As if every destructor had run after the reset.
    FakeDriver fake;
    fake.fail_on["cuCtxGetId"] = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    EXPECT_NO_THROW(use(fake.table));
    for (const char* call : {"cuDevicePrimaryCtxRelease", "cuLibraryUnload", "cuMemPoolDestroy",
                             "cuMemFree", "cuMemFreeHost", "cuStreamDestroy", "cuEventDestroy",
                             "cuGraphDestroy", "cuGraphExecDestroy"}) {
      EXPECT_EQ(fake.count(call), 0) << call;
    }
    EXPECT_GE(fake.alive(), healthy.alive() + 1);
  }
}

}  // namespace
}  // namespace tilejit
