#include "tilejit/benchmark.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "fake/expect_error.hpp"
#include "fake/fake_runtime.hpp"
#include "fake/silent_calls.hpp"
#include "front/compiler_impl.hpp"

namespace tilejit {
namespace {

using launch::Internals;

/// Six arbitrary samples.
constexpr BenchmarkOptions kBrief{.warmup = 3, .min_ms = 0, .max_ms = 0};

BenchmarkOptions in_graph(BenchmarkOptions options) {
  options.timed_in = TimedIn::graph;
  return options;
}

std::vector<std::uint64_t> first_pointers(const FakeDriver& fake) {
  std::vector<std::uint64_t> first;
  for (const auto& launch : fake.launches) {
    first.push_back(field_at<std::uint64_t>(launch.params.data(), 0));
  }
  return first;
}

const std::vector<std::vector<Argument>> kTwoSets = {{on_device(0x10000), on_device(0x20000), 0.5},
                                                     {on_device(0x30000), on_device(0x40000), 0.5}};

TEST(TimeLaunches, SummarisesSamplesAndRotatesArguments) {
  FakeDriver fake;
  fake.param_bytes = 8;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const Kernel kernel = load(runtime, hand_plan());
  const TimeSummary time = time_launches(runtime, kernel, kTwoSets, {}, kBrief);
  EXPECT_EQ(time.samples, 6);
  EXPECT_EQ(time.launches, 6);
  EXPECT_DOUBLE_EQ(time.min_ms, 1);  // the fake's events are 1, 2, 3, ... ms apart
  EXPECT_DOUBLE_EQ(time.median_ms, 3.5);
  EXPECT_DOUBLE_EQ(time.max_ms, 6);
  EXPECT_TRUE(time.noisy);
  const auto first = first_pointers(fake);
  ASSERT_EQ(first.size(), 9U);  // three to warm up
  EXPECT_EQ(first[0], 0x10000U);
  EXPECT_EQ(first[1], 0x30000U);
  EXPECT_EQ(first[8], 0x10000U);
  EXPECT_EQ(fake.streams + fake.events, 0);
}

TEST(TimeLaunches, InAGraphTakeWholeTurnsThroughTheArguments) {
  FakeDriver fake;
  fake.param_bytes = 8;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const Kernel kernel = load(runtime, hand_plan());
  std::vector<std::vector<Argument>> sets;
  for (std::uint64_t i = 0; i < 7; ++i) {
    sets.push_back({on_device(0x10000 * (2 * i + 1)), on_device(0x10000 * (2 * i + 2)), 0.5});
  }
  const TimeSummary time = time_launches(runtime, kernel, sets, {}, in_graph(kBrief));
  const auto first = first_pointers(fake);
  ASSERT_EQ(first.size(), 1U + 21);  // one before capture, then three turns
  for (std::size_t i = 0; i < 21; ++i) EXPECT_EQ(first[i + 1], 0x10000 * (2 * (i % 7) + 1)) << i;
  EXPECT_EQ(fake.count("cuGraphLaunch"), 3 + 6);
  EXPECT_EQ(time.samples, 6);
  EXPECT_EQ(time.launches, 6 * 21);
  EXPECT_DOUBLE_EQ(time.median_ms, 3.5 / 21);
  EXPECT_EQ(fake.graphs + fake.executables, 0);
}

TEST(TimeLaunches, AFailedCaptureLeavesNothing) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const Kernel kernel = load(runtime, hand_plan());
  const std::vector<std::vector<Argument>> sets = {hand_arguments(), {on_device(0x10000)}};
  expect_error(ErrorCode::invalid_argument, "argument",
               [&] { (void)time_launches(runtime, kernel, sets, {}, in_graph(kBrief)); });
  EXPECT_EQ(fake.capturing, nullptr);
  EXPECT_EQ(fake.graphs + fake.executables, 0);
  EXPECT_EQ(fake.streams + fake.events, 0);
}

TEST(TimeLaunches, RefuseWhatCannotBeTimed) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const Kernel kernel = load(runtime, hand_plan());
  expect_error(ErrorCode::invalid_argument, "at least one set",
               [&] { (void)time_launches(runtime, kernel, {}); });
  expect_error(ErrorCode::invalid_argument, "min_samples must be",
               [&] { (void)time_launches(runtime, kernel, kTwoSets, {}, {.min_samples = 1}); });
  expect_error(ErrorCode::invalid_argument, "warmup must be",
               [&] { (void)time_launches(runtime, kernel, kTwoSets, {}, {.warmup = -1}); });
  EXPECT_TRUE(fake.launches.empty());
}

TEST(TimeCopy, CopiesBetweenWorkspaces) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const TimeSummary time = time_copy(runtime, 60 << 20, kBrief);
  EXPECT_DOUBLE_EQ(time.median_ms, 3.5);
  EXPECT_EQ(fake.cleared, 2U * (60 << 20));
  EXPECT_EQ(fake.count("cuMemcpyDtoDAsync"), 3 + 6);  // one workspace is larger than twice L2
  EXPECT_EQ(fake.buffers, 0);
}

TEST(WorkspacesOfTensors, ExceedTheCacheTwice) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const std::vector<char> host(1000, 'x');
  const WorkspaceTensor tensors[] = {{host.size(), host.data()}, {8 << 20}};
  const Argument scalars[] = {0.25};
  const Workspaces cold(runtime, tensors, scalars);
  ASSERT_EQ(cold.arguments().size(), 13U);  // of 8 MB and 1 KB; L2 has 50 MB
  EXPECT_TRUE(cold.are_cold());
  const auto address = [&](std::size_t set, std::size_t tensor) {
    return cold.arguments()[set][tensor].address;
  };
  EXPECT_EQ(address(0, 1) - address(0, 0), 1024U);  // whole 256 bytes
  EXPECT_EQ(address(5, 0) - address(4, 0), 1024U + (8 << 20));
  EXPECT_EQ(cold.arguments()[12][2].floating, 0.25);
  EXPECT_EQ(*reinterpret_cast<const char*>(address(0, 0) + 999), 'x');
  EXPECT_EQ(fake.count("cuMemcpyDtoDAsync"), 4);  // 1, 2, 4 and 5 more
  const Workspaces warm(runtime, tensors, scalars, L2State::warm);
  EXPECT_EQ(warm.arguments().size(), 1U);
  EXPECT_FALSE(warm.are_cold());
}

TEST(WorkspacesOfTensors, AreBounded) {
  FakeDriver fake;
  const Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const WorkspaceTensor small[] = {{256}}, nothing[] = {{0}}, huge[] = {{SIZE_MAX / 2}, {16}};
  const Workspaces many(runtime, small);
  EXPECT_EQ(many.arguments().size(), 4096U);
  EXPECT_FALSE(many.are_cold());
  EXPECT_EQ(Workspaces(runtime, nothing).arguments().size(), 1U);
  expect_error(ErrorCode::invalid_argument, "do not fit a workspace",
               [&] { (void)Workspaces(runtime, huge); });
}

/// Everything that measures time.
void time_everything(const driver::Table& table) {
  const Runtime runtime = Internals::make_runtime(kInMemory, table);
  const Kernel kernel = load(runtime, hand_plan());
  (void)time_launches(runtime, kernel, kTwoSets, {},
                      in_graph({.warmup = 1, .min_ms = 0, .max_ms = 0}));
  (void)time_copy(runtime, 1 << 20, {.warmup = 0, .min_ms = 0, .max_ms = 0});
}

TEST(Timing, SurvivesTheFailureOfEachDriverCall) {
  std::vector<std::string> calls;
  {
    FakeDriver healthy;
    time_everything(healthy.table);
    EXPECT_EQ(healthy.alive(), 0);
    calls = healthy.calls;
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    SCOPED_TRACE(std::to_string(i) + " " + calls[i]);
    FakeDriver fake;
    fake.fail_at = static_cast<int>(i);
    std::string failed;
    try {
      time_everything(fake.table);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::driver_call);
      failed = error.where();
    }
    EXPECT_EQ(failed, is_silent(calls, i) ? "" : calls[i]);
    EXPECT_EQ(fake.alive(), 0);
    EXPECT_EQ(fake.capturing, nullptr);
  }
}

TEST(DeclaredWorkOf, CountsBytesAndOperations) {
  Fused op{.name = "test",
           .tensors = {{"x", f16, "(M,N):(N,1)"}, {"b", f16, "(N):(1)"}, {"y", f32, "(M,N):(N,1)"}},
           .formula = "y = relu(x + b)"};
  const DeclaredWork work = declared_work(op, {{"M", 100}, {"N", 64}});
  EXPECT_EQ(work.bytes, 100 * 64 * (2 + 4) + 64 * 2);
  EXPECT_EQ(work.operations, 2 * 100 * 64);
  expect_error(ErrorCode::invalid_argument, "a symbol has no value", [&] {
    (void)declared_work(op, {{"M", 100}});
  });
}

TEST(Benchmarks, JoinTimeWorkAndOccupancy) {
  FakeDriver fake;
  Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  const Fused op{.name = "copy",
                 .tensors = {{"x", f32, "(1048576):(1)"}, {"y", f32, "(1048576):(1)"}},
                 .formula = "y = x + 1"};
  const operation::Plan plan = front::make_planned(op, Target{}).plan;
  const operation::LaunchPlan launch = plan.body->launch();
  auto library = launch::load_library(Internals::context(runtime), hand_artifact(), launch);
  const Kernel kernel =
      Internals::make_kernel(std::move(library), hand_artifact(), op, plan, launch);
  const std::vector<std::vector<Argument>> sets = {{on_device(0x10000000), on_device(0x20000000)}};
  const BenchmarkResult result =
      benchmark(runtime, kernel, sets, {}, kBrief, {.copy = 2900, .read = 3000});
  EXPECT_DOUBLE_EQ(result.time.median_ms, 3.5);
  EXPECT_EQ(result.work.bytes, 8 << 20);
  EXPECT_EQ(result.work.operations, 1 << 20);
  EXPECT_DOUBLE_EQ(result.gigabytes_per_second(), (8 << 20) / 3.5e6);
  EXPECT_DOUBLE_EQ(result.occupancy, 1);  // the fake's 8 blocks of 256
  // 512 blocks on 132 multiprocessors: 4 on each, whose threads load 32 bytes.
  EXPECT_DOUBLE_EQ(result.in_flight.issued, 4 * 256 * 32);
  EXPECT_NEAR(result.in_flight.needed, 600 / 1.98 * 2900 / 132, 1e-6);
}

TEST(BenchmarkResults, FollowFromTimeAndWork) {
  BenchmarkResult result;
  EXPECT_EQ(result.gigabytes_per_second(), 0);
  EXPECT_EQ(result.percent_of_copy(), 0);
  result.time.median_ms = 0.5;
  result.work = {.bytes = 1'000'000'000, .operations = 3'000'000'000};
  result.ceilings = {.copy = 2500, .read = 4000};
  EXPECT_DOUBLE_EQ(result.gigabytes_per_second(), 2000);
  EXPECT_DOUBLE_EQ(result.teraflops(), 6);
  EXPECT_DOUBLE_EQ(result.percent_of_copy(), 80);
  EXPECT_DOUBLE_EQ(result.percent_of_read(), 50);
  EXPECT_EQ(result.percent_of_peak(), 0);
  result.ceilings.multiply = 8;
  EXPECT_DOUBLE_EQ(result.percent_of_peak(), 75);
}

}  // namespace
}  // namespace tilejit
