// Streams on a device: nothing waits for an unrelated stream.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "gpu/device_data.hpp"
#include "gpu/gpu_fixture.hpp"
#include "gpu/spin.hpp"
#include "launch/internals.hpp"
#include "support/specs.hpp"

namespace tilejit::test {
namespace {

class Streams : public Gpu {
 protected:
  static Fused increment(const std::string& layout) {
    Fused op = make_op(f32, {{"x", layout}}, "x = x + 1");
    op.tensors[0].access = Access::inout;
    return op;
  }
  /// A reduction that takes two kernels with memory between them.
  static Fused total() {
    Fused op = make_op(f32, {{"x", "(4,65536):(65536,1)"}, {"y", "(4):(1)"}}, "y = sum(x)");
    op.tuning.splits = 8;
    return op;
  }
};

TEST_F(Streams, AllAreWaitedForWithTheDevice) {
  const OwnedStream first(*runtime()), second(*runtime());
  Buffer x = upload(*runtime(), counting(1 << 22)), y = upload(*runtime(), counting(1 << 22));
  const Kernel kernel = runtime()->compile(increment("(4194304):(1)"));
  for (int i = 0; i < 50; ++i) {
    kernel.launch(first, {x});
    kernel.launch(second, {y});
  }
  runtime()->synchronize();
  EXPECT_TRUE(first.is_idle());
  EXPECT_TRUE(second.is_idle());
}

TEST_F(Streams, WhatRunsElsewhereIsNotWaitedFor) {
  Spin spin(*runtime());
  const OwnedStream busy(*runtime()), stream(*runtime());
  Buffer x = upload(*runtime(), counting(1024));
  const Buffer rows = upload(*runtime(), std::vector<float>(4 * 65536, 1.0f));
  Buffer sums(*runtime(), 4 * sizeof(float));
  const Kernel kernel = runtime()->compile(increment("(1024):(1)"));
  const Kernel sum = runtime()->compile(total());
  const BoundLaunch bound = kernel.bind({x});
  GraphBuilder builder(*runtime());
  (void)builder.kernel(bound, builder.kernel(sum, {rows, sums}));
  const GraphExec graph = builder.finish().instantiate();
  Fused any = increment("(1):(1)");
  Dispatcher dispatcher(*runtime(), any);
  const std::int64_t shape[] = {1024}, stride[] = {1};
  const Argument shaped(f32, x.data(), shape, stride);
  const auto launch_all = [&] {
    kernel.launch(stream, {x});
    kernel.launch(stream, {x}, {}, {.overlap = runtime()->device().target.major >= 9});
    bound.launch(stream);
    sum.launch(stream, {rows, sums});
    graph.launch(stream);
    dispatcher.launch(stream, {shaped});
  };
  launch_all();  // loaded, with memory in the pools
  stream.synchronize();

  spin.start(busy);
  launch_all();
  stream.synchronize();
  EXPECT_FALSE(busy.is_idle()) << "something waited for the other stream";
  spin.release();
  busy.synchronize();
  EXPECT_EQ(download<float>(x)[7], 7.0f + 10);
  EXPECT_EQ(download<float>(sums), std::vector<float>(4, 65536.0f));
}

// The driver's loading itself waits for what runs in the context; a compiled kernel is loaded.
TEST_F(Streams, NorByTheFirstLaunchOfAKernel) {
  Spin spin(*runtime());
  const OwnedStream busy(*runtime()), stream(*runtime());
  Buffer x = upload(*runtime(), counting(777));
  const Kernel kernel = runtime()->compile(increment("(777):(1)"));
  spin.start(busy);
  kernel.launch(stream, {x});
  stream.synchronize();
  EXPECT_FALSE(busy.is_idle()) << "the first launch waited for the other stream";
  spin.release();
  busy.synchronize();
}

TEST_F(Streams, WaitForEachOtherByEvents) {
  Spin spin(*runtime());
  const OwnedStream first(*runtime()), second(*runtime());
  Event event(*runtime());
  Buffer x = upload(*runtime(), counting(64));
  const Kernel kernel = runtime()->compile(increment("(64):(1)"));
  spin.start(first);
  event.record(first);
  event.wait(second);
  kernel.launch(second, {x});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(event.is_done());
  EXPECT_FALSE(second.is_idle());
  spin.release();
  second.synchronize();
  EXPECT_TRUE(event.is_done());
  EXPECT_EQ(download<float>(x)[1], 2.0f);
}

TEST_F(Streams, OfEveryKindTakeKernelsThatNeedMemory) {
  const Kernel sum = runtime()->compile(total());
  const Buffer rows = upload(*runtime(), std::vector<float>(4 * 65536, 1.0f));
  const OwnedStream blocking(*runtime(), {.blocking = true}), other(*runtime(), {.priority = -1});
  for (const Stream stream : {legacy_stream(), per_thread_stream(), blocking.get(), other.get()}) {
    Buffer sums = upload(*runtime(), std::vector<float>(4, -1.0f));
    sum.launch(stream, {rows, sums});
    const driver::Table& driver = driver::load_driver();
    ASSERT_EQ(driver.cuStreamSynchronize_(stream), CUDA_SUCCESS);
    EXPECT_EQ(download<float>(sums), std::vector<float>(4, 65536.0f));
  }
}

TEST_F(Streams, SixteenThreadsLaunchTenThousandTimesEach) {
  constexpr int kThreads = 16, kLaunches = 10'000;
  const Kernel kernel = runtime()->compile(increment("(256):(1)"));
  Dispatcher dispatcher(*runtime(), increment("(1):(1)"));
  const std::int64_t shape[] = {256}, stride[] = {1};
  std::vector<Buffer> buffers;
  for (int t = 0; t < kThreads; ++t) {
    buffers.push_back(upload(*runtime(), std::vector<float>(256, 0.0f)));
  }
  std::vector<std::string> failures(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      try {
        runtime()->make_current();
        const OwnedStream stream(*runtime());
        const Buffer& x = buffers[static_cast<std::size_t>(t)];
        const BoundLaunch bound = kernel.bind({x});
        const Argument shaped(f32, x.data(), shape, stride);
        for (int i = 0; i < kLaunches; ++i) {
          if (i % 3 == 0) kernel.launch(stream, {x});
          if (i % 3 == 1) bound.launch(stream);
          if (i % 3 == 2) dispatcher.launch(stream, {shaped});
        }
        stream.synchronize();
      } catch (const Error& error) {
        failures[static_cast<std::size_t>(t)] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < kThreads; ++t) {
    EXPECT_EQ(failures[static_cast<std::size_t>(t)], "");
    EXPECT_EQ(download<float>(buffers[static_cast<std::size_t>(t)]),
              std::vector<float>(256, kLaunches));
  }
}

TEST_F(Streams, OverlappingKernelsSeeWhatTheOnesBeforeWrote) {
  if (runtime()->device().target.major < 9) GTEST_SKIP() << "needs compute capability 9.0";
  constexpr int kLaunches = 2000;
  const OwnedStream stream(*runtime());
  Buffer x = upload(*runtime(), std::vector<float>(64 * 96, 0.0f));
  Buffer y = upload(*runtime(), std::vector<float>(64 * 96, 0.0f));
  const Kernel forth = runtime()->compile(
      make_op(f32, {{"x", "(64,96):(96,1)"}, {"y", "(64,96):(1,64)"}}, "y = x + 1"));
  const Kernel back = runtime()->compile(make_op(
      f32, {{"y", "(64,96):(1,64)"}, {"x", "(64,96):(96,1)"}}, "x = y + (max(y) - min(y))"));
  for (int i = 0; i < kLaunches; ++i) {
    forth.launch(stream, {x, y}, {}, {.overlap = true});
    back.launch(stream, {y, x}, {}, {.overlap = true});
  }
  stream.synchronize();
  EXPECT_EQ(download<float>(x), std::vector<float>(64 * 96, kLaunches));
}

TEST_F(Streams, OptionsOfALaunchDoNotChangeWhatItDoes) {
  const OwnedStream stream(*runtime());
  const Kernel kernel = runtime()->compile(increment("(4096):(1)"));
  Buffer x = upload(*runtime(), counting(4096));
  std::vector<LaunchOptions> all = {
      {.cooperative = true}, {.priority = -1}, {.shared_carveout = 50}, {.shared_bytes = 60'000}};
  if (runtime()->device().target.major >= 9) all.push_back({.overlap = true, .cluster = 2});
  for (const LaunchOptions& options : all) kernel.launch(stream, {x}, {}, options);
  stream.synchronize();
  EXPECT_EQ(download<float>(x)[5], 5.0f + static_cast<float>(all.size()));
}

TEST_F(Streams, SeveralRuntimesShareADevice) {
  Options options = runtime()->compiler().options();
  Runtime other(options);
  Runtime of_context(options, launch::Internals::context(*runtime())->handle());
  Buffer x = upload(*runtime(), counting(100));
  for (Runtime* each : {runtime(), &other, &of_context}) {
    each->compile(increment("(100):(1)")).launch(legacy_stream(), {x});
  }
  EXPECT_EQ(download<float>(x)[3], 6.0f);
}

}  // namespace
}  // namespace tilejit::test
