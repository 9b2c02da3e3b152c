#include "timing/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace tilejit::timing {
namespace {

struct PercentileCase {
  const char* name;
  std::vector<double> samples;
  double p10, p25, p50, p75, p90, p99;  // numpy.percentile 1.24
};
const PercentileCase kPercentiles[] = {
    {"one", {3}, 3, 3, 3, 3, 3, 3},
    {"two", {1, 2}, 1.1, 1.25, 1.5, 1.75, 1.9, 1.99},
    {"seven", {2.5, 3, 4, 6, 7.5, 8, 9}, 2.8, 3.5, 6, 7.75, 8.4, 8.94},
    {"eight", {1, 2.5, 3, 4, 6, 7.5, 8, 9}, 2.05, 2.875, 5, 7.625, 8.3, 8.93},
    {"equal", {4, 4, 4, 4}, 4, 4, 4, 4, 4, 4},
};

TEST(Percentiles, AreNumPys) {
  for (const PercentileCase& row : kPercentiles) {
    SCOPED_TRACE(row.name);
    const auto at = [&](double p) { return percentile(row.samples, p); };
    EXPECT_DOUBLE_EQ(at(0), row.samples.front());
    EXPECT_DOUBLE_EQ(at(0.1), row.p10);
    EXPECT_DOUBLE_EQ(at(0.25), row.p25);
    EXPECT_DOUBLE_EQ(at(0.5), row.p50);
    EXPECT_DOUBLE_EQ(at(0.75), row.p75);
    EXPECT_DOUBLE_EQ(at(0.9), row.p90);
    EXPECT_DOUBLE_EQ(at(0.99), row.p99);
    EXPECT_DOUBLE_EQ(at(1), row.samples.back());
  }
}

struct RanksCase {
  std::size_t samples;
  std::optional<Ranks> want;
};
// From exact binomial coefficients, in rational numbers; up to 20 also in textbook tables.
const RanksCase kRanks[] = {
    {0, {}},
    {1, {}},
    {5, {}},
    {6, {{0, 5}}},
    {8, {{0, 7}}},
    {9, {{1, 7}}},
    {10, {{1, 8}}},
    {15, {{3, 11}}},
    {20, {{5, 14}}},
    {35, {{11, 23}}},
    {50, {{17, 32}}},
    {100, {{39, 60}}},
    {101, {{40, 60}}},
    {500, {{227, 272}}},
    {1000, {{468, 531}}},
    {5000, {{2430, 2569}}},
    {20000, {{9860, 10139}}},
};

TEST(MedianRanks, AreThoseOfTheBinomialDistribution) {
  for (const RanksCase& row : kRanks) EXPECT_EQ(median_ranks(row.samples), row.want) << row.samples;
  EXPECT_EQ(median_ranks(7, 0.99), std::nullopt);
  EXPECT_EQ(median_ranks(9, 0.99), (Ranks{0, 8}));
  EXPECT_EQ(median_ranks(9, 0.5), (Ranks{2, 6}));
}

TEST(MedianRanks, AreSymmetricAndGrowNarrower) {
  double width = 1;
  for (std::size_t n = 6; n < 3000; n += 97) {
    const auto ranks = median_ranks(n);
    ASSERT_TRUE(ranks) << n;
    EXPECT_EQ(ranks->low + ranks->high, n - 1);
    const double part = static_cast<double>(ranks->high - ranks->low) / static_cast<double>(n - 1);
    EXPECT_LE(part, width) << n;
    width = part;
  }
}

// The interval's promise, on a skewed distribution whose median is 1.
TEST(MedianRanks, HoldTheMedianAsOftenAsTheySay) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> times(0, 0.5);
  for (const std::size_t n : {std::size_t{6}, std::size_t{25}, std::size_t{100}}) {
    const Ranks ranks = median_ranks(n).value();
    int held = 0;
    constexpr int kTries = 4000;
    for (int i = 0; i < kTries; ++i) {
      std::vector<double> samples(n);
      std::ranges::generate(samples, [&] { return times(random); });
      std::ranges::sort(samples);
      held += samples[ranks.low] <= 1 && 1 <= samples[ranks.high];
    }
    EXPECT_GE(held, 0.94 * kTries) << n;  // three standard deviations below 95 %
    EXPECT_LE(held, 0.985 * kTries) << n;
  }
}

TEST(TimeSummaries, AreOfSortedSamples) {
  const TimeSummary summary = summarize({7, 3, 5, 1, 9, 2, 8, 4, 6, 10}, 20, 0.5);
  EXPECT_EQ(summary.samples, 10);
  EXPECT_EQ(summary.launches, 200);
  EXPECT_EQ(summary.min_ms, 1);
  EXPECT_EQ(summary.median_ms, 5.5);
  EXPECT_EQ(summary.max_ms, 10);
  EXPECT_EQ(summary.low_ms, 2);
  EXPECT_EQ(summary.high_ms, 9);
  EXPECT_DOUBLE_EQ(summary.relative_error(), 3.5 / 5.5);
  EXPECT_TRUE(summary.noisy);
  EXPECT_FALSE(summarize({7, 3, 5, 1, 9, 2, 8, 4, 6, 10}, 1, 0.7).noisy);
}

TEST(TimeSummaries, WithoutAnIntervalAreNoisy) {
  const TimeSummary summary = summarize({2, 2, 2, 2, 2}, 1, 0.5);
  EXPECT_TRUE(summary.noisy);
  EXPECT_EQ(summary.low_ms, 2);
  EXPECT_EQ(summary.relative_error(), 0);
  EXPECT_FALSE(summarize({2, 2, 2, 2, 2, 2}, 1, 0.5).noisy);
  EXPECT_EQ(summarize({0, 0, 0, 0, 0, 0}, 1, 0.5).relative_error(), 0);
}

}  // namespace
}  // namespace tilejit::timing
