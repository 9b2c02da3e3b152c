// Random operations over several axes: each is planned quickly.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "plan/iteration.hpp"
#include "plan/plans.hpp"
#include "support/axes_case.hpp"
#include "support/specs.hpp"
#include "tilejit/operation.hpp"

namespace tilejit::plan {
namespace {

/// CPU time of this thread, so that a busy machine does not matter.
double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

std::vector<std::uint8_t> random_bytes(std::mt19937_64& random) {
  std::vector<std::uint8_t> bytes(random() % 300);
  std::ranges::generate(bytes, [&] { return static_cast<std::uint8_t>(random()); });
  return bytes;
}

TEST(Axes, RandomOperationsArePlannedWithinASecond) {
  const char* const asked = std::getenv("TILEJIT_TEST_CASES");
  const int count = asked != nullptr ? std::atoi(asked) : 2000;
  std::mt19937_64 random(20261122);
  int planned = 0;
  double slowest = 0;
  for (int n = 0; n < count; ++n) {
    const Fused op = test::axes_case(random_bytes(random));
    SCOPED_TRACE(tilejit::to_json(Operation(op)));
    const double begin = processor_seconds();
    ASSERT_NO_THROW(planned += test::check_plans(op));
    slowest = std::max(slowest, processor_seconds() - begin);
  }
  EXPECT_GT(planned, count / 3) << "the generator makes too few valid operations";
  EXPECT_LE(slowest, 1.0);
  RecordProperty("slowest_ms", static_cast<int>(slowest * 1000));
}

// Such a part used to request a split of 5 and 1 forever.
TEST(Axes, AreWholeInEveryTensor) {
  const Fused op = test::make_op(f32, {{"x", "(4,5):(5,1)"}, {"y", "(4,5):(5,1)"}}, "y = x");
  formula::Analysis analysis = formula::analyze(op);
  analysis.shape[1] = 1;
  EXPECT_THROW((void)iterate_together(op, analysis, {0, 1}, 1), std::logic_error);
  EXPECT_THROW((void)iterate_by_axis(op, analysis, {0, 1}), std::logic_error);
}

}  // namespace
}  // namespace tilejit::plan
