// Threads that launch one kernel concurrently, each with its own buffers: every launch gets its own
// map. Also run under ThreadSanitizer.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "fake/fake_runtime.hpp"
#include "operation/boxes.hpp"
#include "tilejit/bound_launch.hpp"

namespace tilejit {
namespace {

using launch::Internals;

std::atomic<int> encodes, launches, mismatches;

/// The driver calls of the threads, without the records of the fake driver, which serves one
/// thread.
void count_only(driver::Table& table) {
  encodes = launches = mismatches = 0;
  table.cuTensorMapEncodeTiled_ = [](CUtensorMap* out, CUtensorMapDataType, cuuint32_t,
                                     void* address, const cuuint64_t* extents, const cuuint64_t*,
                                     const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                                     CUtensorMapSwizzle, CUtensorMapL2promotion,
                                     CUtensorMapFloatOOBfill) {
    ++encodes;
    for (cuuint64_t& word : out->opaque) word = reinterpret_cast<std::uintptr_t>(address);
    out->opaque[15] = extents[1];
    return CUDA_SUCCESS;
  };
  // y is 1 GiB after x, and the last word of the map holds its rows, as many as y has blocks.
  table.cuLaunchKernel_ = [](CUfunction, unsigned blocks, unsigned, unsigned, unsigned, unsigned,
                             unsigned, unsigned, CUstream, void** params, void**) {
    ++launches;
    const auto* bytes = static_cast<const std::byte*>(params[0]);
    const std::uint64_t x = field_at<std::uint64_t>(bytes, 0) - (1U << 30);
    for (int word = 0; word < 15; ++word) {
      if (field_at<std::uint64_t>(bytes, 64 + 8 * word) != x) ++mismatches;
    }
    if (field_at<std::uint64_t>(bytes, 64 + 8 * 15) != 32U * blocks) ++mismatches;
    return CUDA_SUCCESS;
  };
}

std::vector<Argument> pair_at(std::uintptr_t x) {
  return {on_device(x), on_device(x + (1U << 30))};
}

TEST(TensorMapThreads, GetTheMapsOfTheirOwnBuffers) {
  constexpr int kThreads = 8, kLaunches = 2000;
  FakeDriver fake;
  count_only(fake.table);
  Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  test::Boxes op{.symbols = {{"S", 8}}};
  const Kernel kernel = load(runtime, test::boxes(op));
  const auto run = [&](std::uintptr_t thread) {
    const SymbolValues sizes = {{"N", 64}, {"S", 64}, {"L", 1 << 20}};
    for (std::uintptr_t i = 0; i < kLaunches; ++i) {
      // Few addresses, most of them shared with other threads; rows change at the same address.
      SymbolValues own = sizes;
      own["M"] = 32 * static_cast<std::int64_t>(1 + (i + thread) % 3);
      kernel.launch(kStream, pair_at((1 + (i * thread) % 24) << 12), own);
    }
  };
  std::vector<std::thread> threads;
  for (std::uintptr_t t = 1; t <= kThreads; ++t) threads.emplace_back(run, t);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(launches, kThreads * kLaunches);
  EXPECT_EQ(mismatches, 0);
  EXPECT_GE(encodes, 3);
}

TEST(TensorMapThreads, BindAndSetAtOnce) {
  constexpr int kThreads = 4, kChanges = 1000;
  FakeDriver fake;
  count_only(fake.table);
  Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const Kernel kernel = load(runtime, test::boxes({.symbols = {{"S", 8}}}));
  const SymbolValues sizes = {{"M", 64}, {"N", 64}, {"S", 64}, {"L", 1 << 20}};
  const BoundLaunch first = kernel.bind(pair_at(0x10000), sizes);
  const auto run = [&](std::uintptr_t thread) {
    BoundLaunch own = first;
    for (std::uintptr_t i = 0; i < kChanges; ++i) {
      const std::vector<Argument> next = pair_at((thread + i % 20) << 12);
      own.set({{0, next[0]}, {1, next[1]}});
      own.launch(kStream);
    }
  };
  std::vector<std::thread> threads;
  for (std::uintptr_t t = 1; t <= kThreads; ++t) threads.emplace_back(run, t);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(launches, kThreads * kChanges);
  EXPECT_EQ(mismatches, 0);
}

}  // namespace
}  // namespace tilejit
