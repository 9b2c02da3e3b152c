// Scans by the reference: their values, and which of a kernel's results pass.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "reference/host_operation.hpp"

namespace tilejit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::NanSensitiveDoubleEq;
using testing::Pointwise;

std::vector<double> scan_of(Fused op, const std::vector<std::vector<double>>& inputs) {
  HostOperation operation(std::move(op));
  for (std::size_t i = 0; i < inputs.size(); ++i) operation.fill(i, inputs[i]);
  operation.run();
  EXPECT_TRUE(operation.check().passed) << operation.check().first_mismatch;
  return operation.last();
}

struct ScanRow {
  const char* formula;  // x: (2,3), 1 to 6
  std::vector<double> want;
};

TEST(Scan, GivesWhatAPersonGets) {
  const ScanRow rows[] = {
      {"y = cumsum(x)", {1, 3, 6, 4, 9, 15}},
      {"y = cumsum(x, exclusive=true)", {0, 1, 3, 0, 4, 9}},
      {"y = cumsum(x, reverse=true)", {6, 5, 3, 15, 11, 6}},
      {"y = cumsum(x, exclusive=true, reverse=true)", {5, 3, 0, 11, 6, 0}},
      {"y = cumsum(x, axis=0)", {1, 2, 3, 5, 7, 9}},
      {"y = cumsum(x, axis=0, reverse=true)", {5, 7, 9, 4, 5, 6}},
      {"y = cumprod(x)", {1, 2, 6, 4, 20, 120}},
      {"y = cumprod(x, exclusive=true)", {1, 1, 2, 1, 4, 20}},
      {"y = cummax(x * (4 - x))", {3, 4, 4, 0, 0, 0}},
      {"y = cummin(x * (4 - x), reverse=true)", {3, 3, 3, -12, -12, -12}},
      {"y = cumsum(x) / sum(x) * sum(x)", {1, 3, 6, 4, 9, 15}},
      {"y = cumsum(cumsum(x), axis=0)", {1, 3, 6, 5, 12, 21}},
      {"y = x + 0 * sum(cumsum(x), axis=0)", {1, 2, 3, 4, 5, 6}},
      {"y = max(cumsum(x)) + 0 * x", {6, 6, 6, 15, 15, 15}},
      {"y = cumsum(sum(x)) + 0 * x", {6, 12, 18, 15, 30, 45}},
      {"y = cumsum(x, axis=1) + cumsum(x, axis=0, reverse=true)", {6, 10, 15, 8, 14, 21}},
  };
  for (const ScanRow& row : rows) {
    for (const DType dtype : {f32, f64, f16, i32}) {
      SCOPED_TRACE(std::string(row.formula) + " of " + std::string(to_string(dtype)));
      const Fused op{.tensors = {{"x", dtype, "(2,3):(3,1)"}, {"y", f64, "(2,3):(3,1)"}},
                     .formula = row.formula};
      if (is_integer(dtype) && op.formula.find('/') != std::string::npos) continue;
      EXPECT_EQ(scan_of(op, {{1, 2, 3, 4, 5, 6}}), row.want);
    }
  }
}

TEST(Scan, IntegersWrapIn64Bits) {
  EXPECT_THAT(
      scan_of({.tensors = {{"x", i8, "3:1"}, {"y", i64, "3:1"}}, .formula = "y = cumsum(x)"},
              {{-100, -100, 100}}),
      ElementsAre(-100, -200, -100));
  EXPECT_THAT(
      scan_of({.tensors = {{"x", u64, "2:1"}, {"y", u64, "2:1"}}, .formula = "y = cumsum(x - 1)"},
              {{0, 2}}),
      ElementsAre(0x1p64, 0));
}

TEST(Scan, NanIsIgnoredByExtremesOnly) {
  struct NanRow {
    const char* formula;
    std::vector<double> want;
  };
  const NanRow rows[] = {
      {"y = cummax(x)", {kNan, 1, 1, 3}},
      {"y = cummin(x)", {kNan, 1, 1, 1}},
      {"y = cummax(x, exclusive=true)", {-kInf, -kInf, 1, 1}},
      {"y = cummin(x, exclusive=true)", {kInf, kInf, 1, 1}},
      {"y = cumsum(x, reverse=true)", {kNan, kNan, kNan, 3}},
      {"y = cumprod(x)", {kNan, kNan, kNan, kNan}},
  };
  for (const NanRow& row : rows) {
    SCOPED_TRACE(row.formula);
    EXPECT_THAT(scan_of({.tensors = {{"x", f32, "4:1"}, {"y", f32, "4:1"}}, .formula = row.formula},
                        {{kNan, 1, kNan, 3}}),
                Pointwise(NanSensitiveDoubleEq(), row.want));
  }
}

TEST(Scan, OfManyRowsAndOfALongOne) {
  for (const char* layout : {"(70000,3):(3,1)", "(1,210000):(210000,1)"}) {
    for (const bool reverse : {false, true}) {
      SCOPED_TRACE(layout);
      HostOperation operation(
          {.tensors = {{"x", i32, parse_layout(layout)}, {"y", i64, parse_layout(layout)}},
           .formula = reverse ? "y = cumsum(x, reverse=true)" : "y = cumsum(x)"});
      for (std::size_t i = 0; i < 210000; ++i) operation.set(0, i, static_cast<double>(i % 7));
      operation.run();
      const std::size_t run = layout[1] == '1' ? 210000 : 3;
      double sum = 0;
      for (std::size_t done = 0; done < 210000; ++done) {
        const std::size_t i = reverse ? 210000 - 1 - done : done;
        if (done % run == 0) sum = 0;
        sum += static_cast<double>(i % 7);
        ASSERT_EQ(operation.get(1, i), sum) << i;
      }
    }
  }
}

TEST(Scan, OfNothingWritesNothing) {
  EXPECT_TRUE(scan_of({.tensors = {{"x", f32, "(0,3):(3,1)"}, {"y", f32, "(0,3):(3,1)"}},
                       .formula = "y = cumsum(x) + cumsum(x, axis=0)"},
                      {{}})
                  .empty());
}

/// Scans like a kernel: chunks of lanes, whose totals are added up in three parts.
std::vector<float> scan_in_single(const std::vector<float>& values, std::size_t chunk) {
  std::vector<float> out;
  float carry[3] = {};
  for (std::size_t first = 0, count = 1; first < values.size(); first += chunk, ++count) {
    float total = 0;
    const float before = carry[2] + carry[1] + carry[0];
    for (std::size_t i = first; i < std::min(first + chunk, values.size()); ++i) {
      total += values[i];
      out.push_back(before + total);
    }
    carry[0] += total;
    for (std::size_t level = 0, turn = 32; level < 2 && count % turn == 0; ++level, turn *= 32) {
      carry[level + 1] += carry[level];
      carry[level] = 0;
    }
  }
  return out;
}

TEST(VerifyScan, AcceptsSinglePrecisionAsAKernelAdds) {
  constexpr std::size_t kCount = 200000;
  HostOperation operation(
      {.tensors = {{"x", f32, "200000:1"}, {"y", f32, "200000:1"}}, .formula = "y = cumsum(x)"});
  std::mt19937_64 random(5);
  std::vector<float> values;
  for (std::size_t i = 0; i < kCount; ++i) {
    values.push_back(std::uniform_real_distribution<float>(-1, 1)(random));
    operation.set(0, i, values.back());
  }
  const std::vector<float> sums = scan_in_single(values, 64);
  for (std::size_t i = 0; i < kCount; ++i) operation.set(1, i, sums[i]);
  const Verification result = operation.check();
  EXPECT_TRUE(result.passed) << result.first_mismatch;
  EXPECT_GT(result.max_ratio, 0);
  operation.set(1, 100, sums[100] + 0.01);
  EXPECT_EQ(operation.check().mismatches, 1);
  EXPECT_THAT(operation.check().first_mismatch, HasSubstr("y(100): got "));
}

TEST(VerifyScan, HoldsEarlyResultsToTheirOwnLength) {
  HostOperation operation(
      {.tensors = {{"x", f32, "1000:1"}, {"y", f32, "1000:1"}}, .formula = "y = cumsum(x)"});
  double sum = 0;
  for (std::size_t i = 0; i < 1000; ++i) {
    operation.set(0, i, 0.1);
    operation.set(1, i, sum += static_cast<double>(0.1f));
  }
  EXPECT_TRUE(operation.check().passed) << operation.check().first_mismatch;
  operation.set(1, 1, 0.2 + 1e-6);  // a few too many roundings for two values
  operation.set(1, 900, operation.get(1, 900) + 1e-6);
  EXPECT_EQ(operation.check().mismatches, 1);
}

}  // namespace
}  // namespace tilejit
