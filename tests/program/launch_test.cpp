// Tile programs on a driver without a device: what loading and launching ask of it, and what is
// reported of assertions. tests/gpu has them on a device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake/expect_error.hpp"
#include "fake/fake_driver_graphs.hpp"
#include "fake/fake_runtime.hpp"
#include "tilejit/benchmark.hpp"
#include "tilejit/bound_launch.hpp"
#include "tilejit/buffer.hpp"
#include "tilejit/graph.hpp"
#include "tilejit/program.hpp"

namespace tilejit::program {
namespace {

using launch::Internals;
using ::testing::Contains;
using ::testing::Not;

constexpr const char* kTwoAssertions =
    "Kernel k\nTensor A : f32 [N]\nTensor B : f32 [N] out\nGrid (ceil_div(N, 64))\n"
    "Assert N % 64 == 0, \"whole tiles\"\n"
    "Copy A (64) in coordinate [block_idx.x] from global to register pad zero\n"
    "if tid < N\n  Assert block_idx.x < 3\nend\n"
    "Copy A (64) in coordinate [block_idx.x] from register to global as B\n";
constexpr const char* kFirst =
    "program 'k' line 5: the assertion does not hold in block (2, 0, 0): whole tiles";
constexpr const char* kSecond =
    "program 'k' line 8: the assertion does not hold in block (70000, 65535, 7)";

constexpr std::uint64_t word_of(std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  return std::uint64_t{1} << 63 | x << 32 | y << 16 | z;
}

class ProgramLaunch : public testing::Test {
 protected:
  ProgramLaunch() { fake.param_bytes = 24; }
  [[nodiscard]] Kernel loaded(const char* text = kTwoAssertions) const {
    return load(runtime, parse_operation(text));
  }
  void fail_both() {
    fake.global[0] = word_of(2, 0, 0);
    fake.global[1] = word_of(70000, 65535, 7);
  }

  FakeDriver fake;
  Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
};

TEST_F(ProgramLaunch, AssertionsThatFailAreReportedOnce) {
  const Kernel kernel = loaded();
  EXPECT_EQ(fake.global_name, "tilejit_k_assertions");
  EXPECT_NO_THROW(runtime.synchronize());
  fail_both();
  expect_error(ErrorCode::invalid_argument, std::string(kFirst) + "\n" + kSecond,
               [&] { runtime.synchronize(); });
  EXPECT_NO_THROW(runtime.synchronize());
}

TEST_F(ProgramLaunch, EverythingThatWaitsReportsThem) {
  const Kernel kernel = loaded();
  const OwnedStream stream(runtime);
  Event event(runtime);
  Buffer buffer(runtime, 8);
  std::uint64_t copy = 0;
  const std::vector<std::function<void()>> calls = {[&] { stream.synchronize(); },
                                                    [&] { (void)stream.is_idle(); },
                                                    [&] { event.synchronize(); },
                                                    [&] { (void)event.is_done(); },
                                                    [&] { buffer.copy_from_host(&copy, 8); },
                                                    [&] { buffer.copy_to_host(&copy, 8); },
                                                    [&] { runtime.synchronize(); }};
  for (const auto& call : calls) {
    fail_both();
    expect_error(ErrorCode::invalid_argument, kFirst, call);
    EXPECT_NO_THROW(call());
  }
  fail_both();
  fake.stream_is_busy = true;
  EXPECT_FALSE(stream.is_idle());  // what runs may still fail: nobody has waited
  EXPECT_FALSE(event.is_done());
  EXPECT_THROW(stream.synchronize(), Error);
}

TEST_F(ProgramLaunch, GraphsKeepTheWords) {
  GraphBuilder builder(runtime);
  {
    const Kernel kernel = loaded();
    (void)builder.kernel(kernel, {on_device(0x10000), on_device(0x20000)}, {}, {{"N", 128}});
  }
  const GraphExec graph = builder.finish().instantiate();
  graph.launch(kStream);
  fail_both();
  expect_error(ErrorCode::invalid_argument, kFirst, [&] { runtime.synchronize(); });
}

TEST_F(ProgramLaunch, WordsGoWithTheKernel) {
  { const Kernel kernel = loaded(); }
  EXPECT_NO_THROW(runtime.synchronize());
  EXPECT_EQ(fake.alive(), 1);  // the context
}

TEST_F(ProgramLaunch, ProgramsWithoutAssertionsPayNothing) {
  const Kernel kernel = loaded(
      "Kernel k\nTensor A : f32 [N] out\nGrid (ceil_div(N, 64))\n"
      "Allocate x in register (64) : f32 = 1\n"
      "Copy x (64) in coordinate [block_idx.x] from register to global as A\n");
  EXPECT_THAT(fake.calls, Not(Contains("cuLibraryGetGlobal")));
  EXPECT_THAT(fake.calls, Not(Contains("cuMemHostAlloc")));
}

TEST_F(ProgramLaunch, FailuresWhileLoadingLeakNothing) {
  const Operation op = parse_operation(kTwoAssertions);
  const int begin = static_cast<int>(fake.calls.size());
  { const Kernel kernel = load(runtime, op); }
  const int count = static_cast<int>(fake.calls.size()) - begin;
  int failed = 0;
  for (int i = 0; i < count; ++i) {
    fake.fail_at = static_cast<int>(fake.calls.size()) + i;
    try {
      (void)load(runtime, op);
    } catch (const Error&) {
      ++failed;
    }
    EXPECT_EQ(fake.alive(), 1) << "call " << i;
  }
  EXPECT_GT(failed, 8);
}

TEST_F(ProgramLaunch, IsBenchmarked) {
  const Kernel kernel = loaded();
  const std::vector<std::vector<Argument>> sets = {{on_device(0x10000000), on_device(0x20000000)}};
  const BenchmarkOptions options{.warmup = 3, .min_ms = 0, .max_ms = 0};
  const BenchmarkResult result =
      benchmark(runtime, kernel, sets, {{"N", 1 << 20}}, options, {.copy = 2900, .read = 3000});
  EXPECT_EQ(result.work.bytes, 8 << 20);
  EXPECT_EQ(fake.launches.at(0).blocks, 1u << 14);
  fail_both();
  expect_error(ErrorCode::invalid_argument, kFirst, [&] {
    (void)time_launches(runtime, kernel, sets, {{"N", 1 << 20}}, options);
  });
}

TEST_F(ProgramLaunch, LaunchesNothingForNoBlocks) {
  const Kernel kernel = loaded();
  const std::vector<Argument> args = {on_device(0x10000), on_device(0x20000)};
  kernel.launch(kStream, args, {{"N", 0}});
  BoundLaunch bound = kernel.bind(args, {{"N", 0}});
  bound.launch(kStream);
  EXPECT_EQ(fake.launches.size(), 0u);
  GraphBuilder builder(runtime);
  const Node node = builder.kernel(kernel, args, {}, {{"N", 65}});
  GraphExec graph = builder.finish().instantiate();
  graph.update(node, args, {{"N", 0}});
  ASSERT_EQ(fake.updates.size(), 1u);
  EXPECT_EQ(fake.updates[0].enabled, 0);
  kernel.launch(kStream, args, {{"N", 65}});
  ASSERT_EQ(fake.launches.size(), 1u);
  EXPECT_EQ(fake.launches[0].blocks, 2u);
}

}  // namespace
}  // namespace tilejit::program
