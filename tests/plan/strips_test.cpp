// Odd columns that several passes read, which clusters hold in shared memory in strips.
#include <gtest/gtest.h>

#include "plan/plans.hpp"
#include "strips/strips.hpp"
#include "support/specs.hpp"

namespace tilejit::plan {
namespace {

constexpr const char* kSoftmax = "e = exp(x - max(x)); y = e / sum(e)";

Plan over_middle(DType dtype, const std::string& layout, const char* formula = kSoftmax) {
  Fused op = test::make_op(dtype, {{"x", layout}, {"y", layout}}, formula);
  op.axis = {1};
  return plan_of(op);
}

bool is_by_strips(const Plan& plan) {
  return std::holds_alternative<Strips>(plan.family);
}

// A lane has a vector of 16 bytes of each of its rows, and a sector's columns belong to two strips.
TEST(Strips, FillLanesAndClusters) {
  struct Row {
    const char* layout;
    DType dtype;
    int vector, columns, cluster, vectors;
    std::int64_t strips;
  };
  constexpr Row kRows[] = {
      {"(16,2048,4095):(8386560,4095,1)", f32, 4, 117, 8, 16, 35 * 16},
      {"(16,2048,4095):(8386560,4095,1)", f16, 8, 228, 8, 16, 18 * 16},
      {"(16,1000,4095):(4095000,4095,1)", f32, 4, 117, 4, 16, 35 * 16},
      {"(40,2000,1501):(3002000,1501,1)", bf16, 8, 215, 8, 16, 7 * 40},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(std::string(row.layout) + " " + std::string(to_string(row.dtype)));
    const Plan plan = over_middle(row.dtype, row.layout);
    ASSERT_TRUE(is_by_strips(plan));
    const auto& strips = std::get<Strips>(plan.family);
    EXPECT_EQ(plan.vector, row.vector);
    EXPECT_EQ(strips.columns, row.columns);
    EXPECT_EQ(strips.cluster, row.cluster);
    EXPECT_EQ(strips.register_vectors, row.vectors);
    EXPECT_EQ(total_units(plan), row.strips);
    EXPECT_EQ(plan.operands[0].access_bytes, 16);
    // Wherever a strip begins within a vector, a warp has it and the sector behind it.
    EXPECT_LE(strips.columns + columns_of_sector(plan) - 1 + plan.vector - 1, 32 * plan.vector);
    EXPECT_EQ(dynamic_shared_bytes(plan), strip_bytes(plan, strips));
  }
}

TEST(Strips, AreForOddColumnsThatClustersHold) {
  EXPECT_FALSE(is_by_strips(over_middle(f32, "(16,2048,4096):(8388608,4096,1)"))) << "aligned";
  EXPECT_FALSE(is_by_strips(over_middle(f32, "(160,64,4095):(262080,4095,1)"))) << "short";
  EXPECT_FALSE(is_by_strips(over_middle(f32, "(1,2048,1023):(2095104,1023,1)"))) << "in the cache";
  EXPECT_FALSE(is_by_strips(over_middle(f32, "(400,2048,65):(133120,65,1)"))) << "lanes are idle";
  Fused weighted = test::make_op(f32,
                                 {{"x", "(16,2048,4095):(8386560,4095,1)"},
                                  {"w", "(1,1,4095):(4095,4095,1)"},
                                  {"y", "(16,2048,4095):(8386560,4095,1)"}},
                                 "e = exp(x - max(x)); y = w * e / sum(e)");
  weighted.axis = {1};
  EXPECT_FALSE(is_by_strips(plan_of(weighted))) << "weights lie elsewhere";
  Fused old = test::make_op(
      f32, {{"x", "(16,2048,4095):(8386560,4095,1)"}, {"y", "(16,2048,4095):(8386560,4095,1)"}},
      kSoftmax);
  old.axis = {1};
  EXPECT_FALSE(is_by_strips(plan_of(old, {.major = 8, .minor = 0}))) << "no clusters";
}

}  // namespace
}  // namespace tilejit::plan
