#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "runtime/expect_error.hpp"
#include "runtime/fake_runtime.hpp"

namespace tilejit {
namespace {

using runtime::Internals;

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

}  // namespace
}  // namespace tilejit
