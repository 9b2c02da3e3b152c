// What the reference allows a kernel that takes an attention as one, and what it does not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "reference/host_operation.hpp"

namespace tilejit {
namespace {

constexpr std::size_t kQueries = 9, kKeys = 70, kDepth = 4, kColumns = 3;
constexpr std::size_t kBlock = 32;  // keys that the simulated kernel takes at once

constexpr const char* kCausal =
    "s = (q @ k.T) * 2; t = where(iota(-1) <= iota(-2) + 61, s, -inf); e = exp(t - max(t)); y = "
    "bf16(e / sum(e)) @ v";

bool is_seen(std::size_t query, std::size_t key) {
  return key <= query + 61;
}

float to_bf16(float x) {
  std::uint16_t bits = 0;
  encode(bf16, x, &bits);
  return static_cast<float>(decode(bf16, &bits));
}

HostOperation operation_with(const char* formula) {
  HostOperation op({.tensors = {{"q", bf16, "(9,4):(4,1)"},
                                {"k", bf16, "(70,4):(4,1)"},
                                {"v", bf16, "(70,3):(3,1)"},
                                {"y", f32, "(9,3):(3,1)"}},
                    .formula = formula});
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  const std::size_t counts[] = {kQueries * kDepth, kKeys * kDepth, kKeys * kColumns};
  for (std::size_t t = 0; t < 3; ++t) {
    for (std::size_t i = 0; i < counts[t]; ++i) op.set(t, i, normal(random));
  }
  return op;
}

/// Writes y as a kernel computes it that takes blocks of keys one after another.
void attend(HostOperation& op) {
  for (std::size_t query = 0; query < kQueries; ++query) {
    float maximum = -INFINITY, sum = 0, outputs[kColumns] = {};
    for (std::size_t first = 0; first < kKeys; first += kBlock) {
      const std::size_t last = std::min(first + kBlock, kKeys);
      float scores[kBlock], most = maximum;
      for (std::size_t key = first; key < last; ++key) {
        float score = 0;
        for (std::size_t d = 0; d < kDepth; ++d)
          score += static_cast<float>(op.get(0, query * kDepth + d) * op.get(1, key * kDepth + d));
        scores[key - first] = is_seen(query, key) ? score * 2 : -INFINITY;
        most = std::max(most, scores[key - first]);
      }
      const float factor = std::exp(maximum - most);
      sum *= factor;
      for (float& output : outputs) output *= factor;
      for (std::size_t key = first; key < last; ++key) {
        const float e = std::exp(scores[key - first] - most);
        sum += e;
        if (e == 0) continue;
        for (std::size_t c = 0; c < kColumns; ++c)
          outputs[c] += to_bf16(e) * static_cast<float>(op.get(2, key * kColumns + c));
      }
      maximum = most;
    }
    for (std::size_t c = 0; c < kColumns; ++c) op.set(3, query * kColumns + c, outputs[c] / sum);
  }
}

TEST(AttentionReference, AllowsToDivideAfterTheSecondProduct) {
  HostOperation op = operation_with(kCausal);
  attend(op);
  EXPECT_TRUE(op.check().passed) << op.check().first_mismatch;
  // A key that counts twice is more than roundings.
  const double before = op.get(3, 1);
  op.set(3, 1, before + 0.05);
  EXPECT_FALSE(op.check().passed);
}

// A sink makes all weights so small that f16 has none of them, but a kernel rounds exponentials.
TEST(AttentionReference, AllowsWeightsThatTheirTypeRoundsToZero) {
  HostOperation op({.tensors = {{"q", f16, "(9,4):(4,1)"},
                                {"k", f16, "(70,4):(4,1)"},
                                {"v", f16, "(70,3):(3,1)"},
                                {"y", f32, "(9,3):(3,1)"}},
                    .formula = "s = q @ k.T; m = max(s); e = exp(s - m); "
                               "y = f16(e / (sum(e) + exp(24 - m))) @ v"});
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < kQueries * kDepth; ++i) op.set(0, i, 0.25 * normal(random));
  for (std::size_t i = 0; i < kKeys * kDepth; ++i) op.set(1, i, 0.25 * normal(random));
  for (std::size_t i = 0; i < kKeys * kColumns; ++i) op.set(2, i, normal(random));
  op.run();
  for (const double value : op.last()) EXPECT_EQ(value, 0);
  for (std::size_t query = 0; query < kQueries; ++query) {
    double outputs[kColumns] = {};
    for (std::size_t key = 0; key < kKeys; ++key) {
      double score = -24;
      for (std::size_t d = 0; d < kDepth; ++d)
        score += op.get(0, query * kDepth + d) * op.get(1, key * kDepth + d);
      for (std::size_t c = 0; c < kColumns; ++c)
        outputs[c] += std::exp(score) * op.get(2, key * kColumns + c);
    }
    for (std::size_t c = 0; c < kColumns; ++c) {
      EXPECT_NE(outputs[c], 0);
      op.set(3, query * kColumns + c, outputs[c]);
    }
  }
  EXPECT_TRUE(op.check().passed) << op.check().first_mismatch;
  op.set(3, 1, 1e-4);
  EXPECT_FALSE(op.check().passed);
}

TEST(AttentionReference, LeavesOutKeysThatTheMaskExcludes) {
  HostOperation op = operation_with(kCausal);
  op.run();
  const std::vector<double> clean = op.last();
  for (const double odd : {kNan, kInf, -kInf}) {
    op = operation_with(kCausal);
    op.set(2, 65 * kColumns + 1, odd);  // seen from query 4 on
    op.run();
    const std::vector<double> values = op.last();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i % kColumns != 1 || i / kColumns < 4) {
        EXPECT_EQ(values[i], clean[i]) << i;
      } else {
        EXPECT_FALSE(std::isfinite(values[i])) << i;
        EXPECT_EQ(std::isnan(values[i]), std::isnan(odd)) << i;
      }
    }
    attend(op);
    EXPECT_TRUE(op.check().passed) << op.check().first_mismatch;
    op.set(3, 4, kNan);  // a row that does not see the key
    EXPECT_FALSE(op.check().passed);
    attend(op);
    op.set(3, 8 * kColumns + 1, 0.5);  // a row that does
    EXPECT_FALSE(op.check().passed);
  }
}

TEST(AttentionReference, GivesNanWithoutKeysUnlessTheFormulaSaysOtherwise) {
  HostOperation op = operation_with(
      "t = where(iota(-1) < iota(-2) - 3, q @ k.T, -inf); e = exp(t - max(t)); y = bf16(e / "
      "sum(e)) @ v");
  op.run();
  for (std::size_t i = 0; i < kQueries * kColumns; ++i)
    EXPECT_EQ(std::isnan(op.last()[i]), i / kColumns < 4) << i;
  op = operation_with(
      "t = where(iota(-1) < iota(-2) - 3, q @ k.T, -inf); m = max(t); e = exp(t - where(m > -inf, "
      "m, 0)); y = bf16(e / max(sum(e), 1e-30)) @ v");
  op.run();
  for (std::size_t i = 0; i < 4 * kColumns; ++i) EXPECT_EQ(op.last()[i], 0) << i;
}

}  // namespace
}  // namespace tilejit
