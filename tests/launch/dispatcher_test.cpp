#include "tilejit/dispatcher.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "fake/expect_error.hpp"
#include "fake/fake_runtime.hpp"
#include "tilejit/bound_launch.hpp"

namespace tilejit {
namespace {

using launch::Internals;

/// Three tensors of one shape, contiguous.
class Three {
 public:
  Three(std::int64_t m, std::int64_t n, DType dtype = f32) : shape_{m, n}, stride_{n, 1} {
    for (const std::uintptr_t address : {0x1000000, 0x2000000, 0x3000000}) {
      args_.emplace_back(dtype, on_device(address), shape_, stride_);
    }
  }
  Three(const Three&) = delete;
  Three& operator=(const Three&) = delete;
  operator std::span<const Argument>() const { return args_; }  // NOLINT

 private:
  std::array<std::int64_t, 2> shape_, stride_;
  std::vector<Argument> args_;
};

Fused add() {
  return {.name = "add",
          .tensors = {{.name = "a"}, {.name = "b"}, {.name = "c"}},
          .formula = "c = a + b"};
}

TEST(Dispatcher, MakesAKernelForEachKindOfTensors) {
  FakeDriver fake;
  Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  Dispatcher dispatcher(runtime, add());
  EXPECT_EQ(dispatcher.size(), 0U);
  dispatcher.launch(kStream, Three(100, 1024));
  dispatcher.launch(kStream, Three(300, 64));  // the same kernel
  EXPECT_EQ(dispatcher.size(), 1U);
  dispatcher.launch(kStream, Three(100, 1024, f16));
  EXPECT_EQ(dispatcher.size(), 2U);
  EXPECT_EQ(fake.count("cuLibraryLoadData"), 2);
  ASSERT_EQ(fake.launches.size(), 3U);
  EXPECT_EQ(fake.launches[0].function, fake.launches[1].function);
  EXPECT_NE(fake.launches[0].function, fake.launches[2].function);
  EXPECT_EQ(fake.launches[0].blocks, 100U * 1024 / 4 / 256);
  const Kernel kernel = dispatcher.kernel(Three(5, 64));
  EXPECT_EQ(kernel.op(), dispatcher.specialize(Three(9, 8)));
  EXPECT_EQ(dispatcher.size(), 2U);
}

TEST(Dispatcher, ChecksShapesOnAHitToo) {
  FakeDriver fake;
  Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  Dispatcher dispatcher(runtime, add());
  dispatcher.launch(kStream, Three(100, 1024));
  const std::array<std::int64_t, 2> shape = {7, 64}, stride = {64, 1}, other = {8, 64};
  expect_error(ErrorCode::invalid_argument, "is 7 by tensor 'a' but 8 by tensor 'b'", [&] {
    dispatcher.launch(kStream, {{f32, on_device(0x1000000), shape, stride},
                                {f32, on_device(0x2000000), other, stride},
                                {f32, on_device(0x3000000), shape, stride}});
  });
  EXPECT_EQ(fake.launches.size(), 1U);
  EXPECT_EQ(dispatcher.size(), 1U);
}

TEST(Dispatcher, FindsEachOfManyKernels) {
  FakeDriver fake;
  Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  Dispatcher dispatcher(runtime, add(), {.known_extent = 40});
  for (const int turn : {0, 1}) {
    for (std::int64_t m = 1; m <= 10; ++m) {  // each with its own kernel, and the table grows
      dispatcher.launch(kStream, Three(m, 1024));
    }
    EXPECT_EQ(dispatcher.size(), 10U) << turn;
  }
  EXPECT_EQ(fake.count("cuLibraryLoadData"), 10);
}

TEST(Dispatcher, ServesManyThreads) {
  FakeDriver fake;
  static std::atomic<int> launches = 0;
  launches = 0;
  fake.table.cuLaunchKernel_ = [](CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                  unsigned, unsigned, CUstream, void**, void**) {
    ++launches;
    return CUDA_SUCCESS;
  };
  Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  Dispatcher dispatcher(runtime, add());
  const Kernel kernel = load(runtime, hand_plan());
  const BoundLaunch bound = kernel.bind(hand_arguments());
  constexpr int kThreads = 8, kTurns = 500;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kTurns; ++i) {
        dispatcher.launch(kStream, Three(1 + (i + t) % 6, 1024));
        kernel.launch(kStream, hand_arguments());
        bound.launch(kStream);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(launches, 3 * kThreads * kTurns);
  EXPECT_EQ(dispatcher.size(), 5U);  // of 1, 2, 3, 4 rows, and of more
  EXPECT_EQ(fake.count("cuLibraryLoadData"), 6);
}

}  // namespace
}  // namespace tilejit
