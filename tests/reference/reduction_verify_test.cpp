// Verification of reductions: permitted results of a kernel pass, others do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "reference/host_operation.hpp"

namespace tilejit {
namespace {

using testing::HasSubstr;

/// Adds like a kernel: lanes of neighbours one after the other, then the lanes in pairs.
float add_in_single(std::vector<float> lanes, const std::vector<float>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) lanes[i % lanes.size()] += values[i];
  for (std::size_t n = lanes.size() / 2; n > 0; n /= 2) {
    for (std::size_t i = 0; i < n; ++i) lanes[i] += lanes[i + n];
  }
  return lanes[0];
}

TEST(VerifyReduction, AcceptsSinglePrecisionInAnyOrder) {
  for (const std::size_t n : {std::size_t{1}, std::size_t{200}, std::size_t{50000}}) {
    for (const std::size_t lanes : {std::size_t{1}, std::size_t{32}, std::size_t{1024}}) {
      if (n / lanes > 256) continue;  // deeper than kernels promise
      SCOPED_TRACE(std::to_string(n) + " in " + std::to_string(lanes));
      HostOperation operation(
          {.tensors = {{"x", f32, parse_layout(std::to_string(n) + ":1")}, {"y", f32, "1:1"}},
           .formula = "y = sum(x)"});
      std::mt19937_64 random(n);
      std::vector<float> values;
      for (std::size_t i = 0; i < n; ++i) {
        values.push_back(std::uniform_real_distribution<float>(-1, 1)(random));
        operation.set(0, i, values.back());
      }
      const float sum = add_in_single(std::vector<float>(lanes, 0.0f), values);
      operation.set(1, 0, sum);
      EXPECT_TRUE(operation.check().passed) << operation.check().first_mismatch;
      EXPECT_LE(operation.check().max_ratio, 1);
      operation.set(1, 0, sum + 1e-4 * static_cast<double>(n));
      EXPECT_FALSE(operation.check().passed);
      EXPECT_THAT(operation.check().first_mismatch, HasSubstr("y(0): got "));
    }
  }
}

constexpr std::size_t kEmulatedRows = 20, kEmulatedColumns = 300, kLanes = 32;

/// Random rows of x around a center that differs from row to row, as floats.
std::vector<std::vector<float>> random_rows(HostOperation& operation) {
  std::mt19937_64 random(9);
  std::vector<std::vector<float>> rows(kEmulatedRows);
  for (std::size_t r = 0; r < kEmulatedRows; ++r) {
    std::normal_distribution<float> values(static_cast<float>(r), 1.5f);
    for (std::size_t i = 0; i < kEmulatedColumns; ++i) {
      rows[r].push_back(values(random));
      operation.set(0, r * kEmulatedColumns + i, rows[r].back());
    }
  }
  return rows;
}

float lane_sum(const std::vector<float>& values) {
  return add_in_single(std::vector<float>(kLanes, 0.0f), values);
}

TEST(VerifyReduction, AcceptsSoftmaxInSinglePrecision) {
  HostOperation operation(
      {.tensors = {{"x", f32, "(20,300):(300,1)"}, {"y", f32, "(20,300):(300,1)"}},
       .formula = "e = exp(x - max(x)); y = e / sum(e)"});
  std::size_t at = 0;
  for (const std::vector<float>& row : random_rows(operation)) {
    const float largest = *std::ranges::max_element(row);
    std::vector<float> exponentials;
    for (const float x : row) exponentials.push_back(std::exp(x - largest));
    const float sum = lane_sum(exponentials);
    for (const float e : exponentials) operation.set(1, at++, e / sum);
  }
  const Verification result = operation.check();
  EXPECT_TRUE(result.passed) << result.first_mismatch;
  EXPECT_GT(result.max_ratio, 0);
}

TEST(VerifyReduction, AcceptsLayernormInSinglePrecision) {
  HostOperation operation(
      {.tensors = {{"x", f32, "(20,300):(300,1)"}, {"y", f32, "(20,300):(300,1)"}},
       .formula = "y = (x - mean(x)) / sqrt(var(x) + 1e-5)"});
  std::size_t at = 0;
  for (const std::vector<float>& row : random_rows(operation)) {
    const float mean = lane_sum(row) / kEmulatedColumns;
    std::vector<float> squares;
    for (const float x : row) squares.push_back((x - mean) * (x - mean));
    const float root = std::sqrt(lane_sum(squares) / kEmulatedColumns + 1e-5f);
    for (const float x : row) operation.set(1, at++, (x - mean) / root);
  }
  const Verification result = operation.check();
  EXPECT_TRUE(result.passed) << result.first_mismatch;
  EXPECT_GT(result.max_ratio, 1e-6);
  operation.set(1, 7, operation.get(1, 7) + 1e-2);
  EXPECT_EQ(operation.check().mismatches, 1);
}

/// A kernel's results for var(x) and mean(x) of a row: by the corrected two-pass sum or without the
/// correction.
std::pair<float, float> moments_in_single(const std::vector<float>& row, bool corrected) {
  const auto n = static_cast<float>(row.size());
  const float mean = lane_sum(row) / n;
  std::vector<float> distances, squares;
  for (const float x : row) {
    distances.push_back(x - mean);
    squares.push_back((x - mean) * (x - mean));
  }
  const float sum = lane_sum(distances), shift = sum / n, total = lane_sum(squares);
  if (!corrected) return {total / n, mean};
  const float kept = sum * shift > total * 0x1p-46f ? mean + shift : mean;
  return {std::fabs(total - std::fmax(sum * shift, 0.0f)) / n, kept};
}

// The mean's error was squared into the variance, and bounds allowed for it: the variance of a row
// of 3e7 was 4, and passed.
TEST(VerifyReduction, HoldsVariancesToTheCorrectedTwoPassSum) {
  struct FarRow {
    double center, deviation;
    double wrong;  // an error that the variance must not have
  };
  constexpr FarRow kRows[] = {{3e7, 0, 4}, {0.1, 0, 1e-15}, {1e4, 1, 1e-3}, {0, 1, 1e-3}};
  for (const FarRow& row : kRows) {
    SCOPED_TRACE(std::to_string(row.center) + " +- " + std::to_string(row.deviation));
    HostOperation operation({.tensors = {{"x", f32, "100:1"}, {"v", f32, "1:1"}, {"m", f32, "1:1"}},
                             .formula = "v = var(x); m = mean(x)"});
    std::mt19937_64 random(5);
    std::normal_distribution<double> around(0, 1);
    std::vector<float> values;
    for (std::size_t i = 0; i < 100; ++i) {
      values.push_back(static_cast<float>(row.center + row.deviation * around(random)));
      operation.set(0, i, values.back());
    }
    const auto [variance, mean] = moments_in_single(values, true);
    operation.set(1, 0, variance);
    operation.set(2, 0, mean);
    EXPECT_TRUE(operation.check().passed) << operation.check().first_mismatch;
    operation.set(1, 0, variance + row.wrong);
    EXPECT_FALSE(operation.check().passed);
    operation.set(1, 0, variance);
    operation.set(2, 0, mean * (1 + 2e-6f) + 1e-4f * static_cast<float>(row.deviation));
    EXPECT_FALSE(operation.check().passed);
  }
}

// Of small integers no sum of two passes is rounded. In one pass, the centres of parts are.
TEST(VerifyReduction, AcceptsVariancesOfIntegersInOnePass) {
  HostOperation operation(
      {.tensors = {{"x", f32, "96:1"}, {"y", f32, "1:1"}}, .formula = "y = var(round(x))"});
  for (std::size_t i = 0; i < 96; ++i) operation.set(0, i, i % 8 < 3 ? -1.0 : 1.5);
  const float variance = 2.109375f;  // of -1 and 2
  operation.set(1, 0, std::nextafter(variance, 3.0f));
  EXPECT_TRUE(operation.check().passed) << operation.check().first_mismatch;
  operation.set(1, 0, variance * 1.00001f);
  EXPECT_FALSE(operation.check().passed);
  operation.set(0, 0, NAN);
  EXPECT_FALSE(operation.check().passed) << "it is not a number then";
}

TEST(VerifyReduction, HoldsExactResultsToTheBit) {
  struct ExactRow {
    const char* formula;
    double want;
  };
  constexpr ExactRow kRows[] = {{"y = sum(x)", 11}, {"y = max(x)", 4},     {"y = mean(x)", 2.75},
                                {"y = min(x)", 1},  {"y = sum(x < 4)", 2}, {"y = argmax(x)", 1}};
  for (const ExactRow& row : kRows) {
    SCOPED_TRACE(row.formula);
    HostOperation operation(
        {.tensors = {{"x", f32, "(2,4):(4,1)"}, {"y", f32, "2:1"}}, .formula = row.formula});
    operation.fill(0, {1, 4, 2, 4, 1, 4, 2, 4});
    operation.fill(1, {row.want, row.want});
    EXPECT_TRUE(operation.check().passed) << operation.check().first_mismatch;
    EXPECT_EQ(operation.check().elements, 2);
    operation.set(1, 1, row.want * (1 + 0x1p-20));
    EXPECT_FALSE(operation.check().passed);
    EXPECT_THAT(operation.check().first_mismatch, HasSubstr("y(1): got "));
  }
}

TEST(VerifyReduction, TellsTheCoordinateOfTheOutput) {
  HostOperation operation(
      {.tensors = {{"x", f32, "(2,3,4):(12,4,1)"}, {"y", f32, "(2,1,4):(4,4,1)"}},
       .formula = "y = max(x, axis=1)"});
  operation.set(1, 6, 5);
  EXPECT_EQ(operation.check().first_mismatch, "y(1,0,2): got 5, want 0");
}

// If rounding may decide which element wins, every place passes; otherwise only one does.
TEST(VerifyReduction, AcceptsAnyPlaceOnlyWhereRoundingDecides) {
  struct PlaceRow {
    const char* formula;
    bool any;
  };
  constexpr PlaceRow kRows[] = {
      {"y = argmax(x)", false},
      {"y = argmax(exp(x * 1e-9))", true},  // exp is not exact, and all are near 1
      {"y = argmax(exp(x))", false},
      {"y = argmin(-x)", false},
  };
  for (const PlaceRow& row : kRows) {
    SCOPED_TRACE(row.formula);
    HostOperation operation(
        {.tensors = {{"x", f32, "4:1"}, {"y", i64, "1:1"}}, .formula = row.formula});
    operation.fill(0, {1, 3, 2, 0});
    operation.set(1, 0, 1);
    EXPECT_TRUE(operation.check().passed) << operation.check().first_mismatch;
    operation.set(1, 0, 2);
    EXPECT_EQ(operation.check().passed, row.any);
  }
}

TEST(VerifyReduction, AcceptsEitherTruthOnlyWhereNoneIsCertain) {
  struct TruthRow {
    const char* formula;
    double want;
    bool either;
  };
  constexpr TruthRow kRows[] = {
      {"y = any(exp(x) > 20.085537)", 1, false},  // exp(3) is uncertain, exp(4) is above
      {"y = any(exp(x) > 54.59815)", 0, true},    // exp(4) is uncertain
      {"y = any(x > 5)", 0, false},
      {"y = all(exp(x) > 2.7182817)", 0, true},
      {"y = all(exp(x) > 7.389056)", 0, false},
  };
  for (const TruthRow& row : kRows) {
    SCOPED_TRACE(row.formula);
    HostOperation operation(
        {.tensors = {{"x", f32, "4:1"}, {"y", b8, "1:1"}}, .formula = row.formula});
    operation.fill(0, {1, 2, 3, 4});
    operation.set(1, 0, row.want);
    EXPECT_TRUE(operation.check().passed || row.either) << operation.check().first_mismatch;
    operation.set(1, 0, 1 - row.want);
    EXPECT_EQ(operation.check().passed, row.either) << operation.check().first_mismatch;
  }
}

TEST(VerifyReduction, BoundsProducts) {
  HostOperation operation(
      {.tensors = {{"x", f32, "100:1"}, {"y", f32, "1:1"}}, .formula = "y = prod(x)"});
  float product = 1;
  std::mt19937_64 random(3);
  for (std::size_t i = 0; i < 100; ++i) {
    const float value = std::uniform_real_distribution<float>(0.7f, 1.4f)(random);
    operation.set(0, i, value);
    product *= value;
  }
  operation.set(1, 0, product);
  EXPECT_TRUE(operation.check().passed) << operation.check().first_mismatch;
  operation.set(1, 0, product * (1 + 1e-4));
  EXPECT_FALSE(operation.check().passed);
}

// Partial products may overflow or underflow to 0 in one order and not in another.
TEST(VerifyReduction, KnowsNothingOfProductsThatLeaveTheRange) {
  HostOperation operation(
      {.tensors = {{"x", f32, "4:1"}, {"y", f32, "1:1"}}, .formula = "y = prod(x)"});
  operation.fill(0, {1e30, 1e30, 1e-30, 1e-30});
  for (const double result : {1.0, kInf, 0.0}) {
    operation.set(1, 0, result);
    EXPECT_TRUE(operation.check().passed) << result;
  }
  operation.fill(0, {1e30, 1e30, 2, 2});
  operation.set(1, 0, kInf);
  EXPECT_TRUE(operation.check().passed);
  operation.set(1, 0, 1);
  EXPECT_FALSE(operation.check().passed);
}

TEST(VerifyReduction, AcceptsASumThatMayOverflow) {
  HostOperation operation(
      {.tensors = {{"x", f32, "3:1"}, {"y", f32, "1:1"}}, .formula = "y = sum(x)"});
  operation.fill(0, {3e38, 3e38, -3e38});
  for (const double result : {3e38, kInf}) {
    operation.set(1, 0, result);
    EXPECT_TRUE(operation.check().passed) << result;
  }
  operation.fill(0, {3e38, 3e38, 3e38});
  EXPECT_TRUE(operation.check().passed);
  operation.set(1, 0, 3e38);
  EXPECT_FALSE(operation.check().passed);
}

}  // namespace
}  // namespace tilejit
