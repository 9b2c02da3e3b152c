#include "timing/sampling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "tilejit/error.hpp"
#include "timing/statistics.hpp"

namespace tilejit::timing {
namespace {

/// A clock that returns the times it is given.
class FakeSampler : public Sampler {
 public:
  explicit FakeSampler(std::function<double()> next, int launches = 1)
      : next_(std::move(next)), launches_(launches) {}
  void warm_up(int count) override { warmed_up += count; }
  void take(int count, std::vector<double>& milliseconds) override {
    counts.push_back(count);
    for (int i = 0; i < count; ++i) milliseconds.push_back(next_());
  }
  [[nodiscard]] int launches() const noexcept override { return launches_; }

  int warmed_up = 0;
  std::vector<int> counts;

 private:
  std::function<double()> next_;
  int launches_;
};

double constant() {
  return 1;
}

std::function<double()> noise(double part) {
  return [random = std::mt19937_64(3), part]() mutable {
    return std::uniform_real_distribution<double>(1 - part, 1 + part)(random);
  };
}

TEST(Sampling, TakesTheLeastOfQuietTimes) {
  FakeSampler sampler(constant);
  const TimeSummary summary = sample(sampler, {.warmup = 7, .min_samples = 20, .min_ms = 0});
  EXPECT_EQ(sampler.warmed_up, 7);
  EXPECT_THAT(sampler.counts, testing::ElementsAre(6, 6, 12));
  EXPECT_EQ(summary.samples, 24);
  EXPECT_FALSE(summary.noisy);
}

TEST(Sampling, GoesOnUntilTheIntervalIsNarrow) {
  const auto samples_for = [](double part, double error) {
    FakeSampler sampler(noise(part));
    const TimeSummary summary =
        sample(sampler, {.relative_error = error, .max_samples = 100000, .max_ms = 1e9});
    EXPECT_FALSE(summary.noisy);
    EXPECT_LE(summary.relative_error(), error);
    return summary.samples;
  };
  const int calm = samples_for(0.01, 0.005), wild = samples_for(0.2, 0.005);
  EXPECT_LE(calm, 100);
  EXPECT_GT(wild, 10 * calm);
  EXPECT_LT(samples_for(0.2, 0.05), wild);
}

TEST(Sampling, EndsWithItsTimeAndSaysSo) {
  FakeSampler sampler(noise(0.5));
  const TimeSummary summary = sample(sampler, {.relative_error = 1e-6, .min_ms = 0, .max_ms = 100});
  EXPECT_TRUE(summary.noisy);
  EXPECT_GE(summary.samples, 95);
  EXPECT_LE(summary.samples, 110);  // of about 1 ms each
}

TEST(Sampling, EndsWithItsSamplesAndSaysSo) {
  FakeSampler sampler(noise(0.5));
  const TimeSummary summary = sample(
      sampler, {.relative_error = 1e-6, .min_samples = 6, .max_samples = 200, .max_ms = 1e9});
  EXPECT_TRUE(summary.noisy);
  EXPECT_EQ(summary.samples, 200);
}

TEST(Sampling, SlowLaunchesAreFew) {
  FakeSampler sampler([] { return 400.0; });
  const TimeSummary summary = sample(sampler, {.min_samples = 50, .max_ms = 1000});
  EXPECT_EQ(summary.samples, kFewestSamples);
  EXPECT_FALSE(summary.noisy);
}

TEST(Sampling, CountsTheTimeOfEveryLaunchOfASample) {
  FakeSampler one(constant), twenty(constant, 20);
  const BenchmarkOptions options{.min_samples = 6, .min_ms = 240, .max_ms = 1000};
  EXPECT_EQ(sample(one, options).samples, 384);  // 6 + 6 + 12 + ... + 192
  const TimeSummary summary = sample(twenty, options);
  EXPECT_EQ(summary.samples, 12);
  EXPECT_EQ(summary.launches, 240);
}

TEST(Sampling, WithoutWarmUpDoesNone) {
  FakeSampler sampler(constant);
  (void)sample(sampler, {.warmup = 0});
  EXPECT_EQ(sampler.warmed_up, 0);
}

TEST(Sampling, EndsThoughTimesAreZero) {
  FakeSampler sampler([] { return 0.0; });
  EXPECT_EQ(sample(sampler, {.max_samples = 100}).samples, 100);
}

TEST(Sampling, RefusesOptionsOutOfRange) {
  const struct {
    BenchmarkOptions options;
    const char* what;
  } cases[] = {
      {{.warmup = -1}, "warmup must be 0 to 1000000"},
      {{.relative_error = 0}, "relative_error must be above 0 and below 1"},
      {{.relative_error = 1}, "relative_error"},
      {{.min_samples = 5}, "min_samples must be 6 to max_samples"},
      {{.min_samples = 51, .max_samples = 50}, "min_samples"},
      {{.max_samples = 2000000}, "max_samples must be 6 to 1000000"},
      {{.min_ms = -1}, "min_ms must be 0 or more"},
      {{.min_ms = 2, .max_ms = 1}, "max_ms must be min_ms or more"},
  };
  FakeSampler sampler(constant);
  for (const auto& row : cases) {
    try {
      (void)sample(sampler, row.options);
      ADD_FAILURE() << row.what;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_THAT(error.what(), testing::HasSubstr(row.what));
    }
  }
  EXPECT_TRUE(sampler.counts.empty());
}

}  // namespace
}  // namespace tilejit::timing
