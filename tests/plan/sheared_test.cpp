#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "device/scale.hpp"
#include "plan/plans.hpp"
#include "sheared/shearing.hpp"

namespace tilejit::plan {
namespace {

Fused operation(const std::vector<Tensor>& tensors, const std::string& formula = "y = x") {
  return {.tensors = tensors, .formula = formula};
}

TEST(ShearedTiles, AreForNarrowElementsOfRowsThatAreNotAligned) {
  struct Row {
    const char* what;
    std::vector<Tensor> tensors;
    const char* formula;
    bool sheared;
  };
  const Row rows[] = {
      {"bytes",
       {{"x", u8, "(8191,8193):(1,8191)"}, {"y", u8, "(8191,8193):(8193,1)"}},
       "y = x",
       true},
      {"pairs",
       {{"x", f16, "(8191,8193):(1,8191)"}, {"y", f16, "(8191,8193):(8193,1)"}},
       "y = x",
       true},
      {"words",
       {{"x", f32, "(8191,8193):(1,8191)"}, {"y", f32, "(8191,8193):(8193,1)"}},
       "y = x",
       false},
      {"aligned rows and lines",
       {{"x", u8, "(8192,8192):(1,8192)"}, {"y", u8, "(8192,8192):(8192,1)"}},
       "y = x",
       false},
      {"lines that are aligned",
       {{"x", u8, "(8192,8193):(1,8192)"}, {"y", u8, "(8192,8193):(8193,1)"}},
       "y = x",
       true},
      {"rows that are aligned",
       {{"x", u8, "(8191,8192):(1,8191)"}, {"y", u8, "(8191,8192):(8192,1)"}},
       "y = x",
       true},
      {"an operand that begins where the output does",
       {{"x", u8, "(8191,8193):(1,8191)"},
        {"z", u8, "(8191,8193):(8209,1)"},
        {"y", u8, "(8191,8193):(8193,1)"}},
       "y = x + z",
       true},
      {"an operand that begins elsewhere",
       {{"x", u8, "(8191,8193):(1,8191)"},
        {"z", u8, "(8191,8193):(8194,1)"},
        {"y", u8, "(8191,8193):(8193,1)"}},
       "y = x + z",
       false},
      {"a transposed output",
       {{"x", u8, "(8191,8193):(8193,1)"},
        {"y", u8, "(8191,8193):(8193,1)"},
        {"z", u8, "(8191,8193):(1,8191)"}},
       "y = x; z = x",
       false},
      {"few tiles",
       {{"x", u8, "(511,513):(1,511)"}, {"y", u8, "(511,513):(513,1)"}},
       "y = x",
       false},
      {"rows of which the last tile is mostly empty",
       {{"x", f16, "(300,8191,133):(1089403,1,8191)"},
        {"y", f16, "(300,8191,133):(1089403,133,1)"}},
       "y = x",
       false},
      {"rows that may end in another tile",
       {{"x", f16, "(131605,122):(1,131605)"}, {"y", f16, "(131605,122):(122,1)"}},
       "y = x",
       false},
      {"a wide output",
       {{"x", f16, "(8191,8193):(1,8191)"}, {"y", f32, "(8191,8193):(8193,1)"}},
       "y = f32(x)",
       false},
      {"an operand that has nothing before rows that begin early",
       {{"x", u8, "(8191,8193):(1,8191)"},
        {"z", u8, "(8191,8193):(0,1)"},
        {"y", u8, "(8191,8193):(8208,1)"}},
       "y = x + z",
       false},
      {"the same of rows that begin at sectors",
       {{"x", u8, "(8191,8193):(1,8191)"},
        {"z", u8, "(8191,8193):(0,1)"},
        {"y", u8, "(8191,8193):(8224,1)"}},
       "y = x + z",
       true},
      {"an output at any address",
       {{"x", u8, "(8191,8193):(1,8191)"},
        {.name = "y", .dtype = u8, .layout = {"(8191,8193):(8193,1)"}, .align = 1}},
       "y = x",
       false},
  };
  for (const Row& row : rows) {
    const Plan plan = plan_of(operation(row.tensors, row.formula));
    EXPECT_EQ(template_name(plan) == "fused_sheared", row.sheared)
        << row.what << ": " << template_name(plan);
  }
}

/// 2911/142 of the sweep: sheared tiles meet at the ends of all rows, of 206 bytes.
TEST(ShearedTiles, AreTilesOfMergedColumnsIfTheseAreAligned) {
  struct Row {
    const char* what;
    std::vector<Tensor> tensors;
    const char *formula, *extents;
  };
  const Tensor x{"x", bf16, "(10000,48,103):(1,10000,480000)"},
      y{"y", bf16, "(10000,48,103):(4944,103,1)"};
  const Row rows[] = {
      {"rows of 103 that make whole vectors of 4944", {x, y}, "y = x", "4944 10000"},
      {"the same with an input in order and a value of all",
       {x, {"z", bf16, "(10000,48,103):(4944,103,1)"}, {"w", bf16, "(10000,48,103):(1,0,0)"}, y},
       "y = x + z * w",
       "4944 10000"},
      {"rows that are odd together as well",
       {{"x", bf16, "(10000,47,103):(1,10000,470000)"}, {"y", bf16, "(10000,47,103):(4841,103,1)"}},
       "y = x",
       "103 47 10000"},
      {"lines that are not aligned",
       {{"x", bf16, "(9999,48,103):(1,9999,479952)"}, {"y", bf16, "(9999,48,103):(4944,103,1)"}},
       "y = x",
       "103 48 9999"},
      {"an input that has one element of each row",
       {x, {"w", bf16, "(10000,48,103):(48,1,0)"}, y},
       "y = x * w",
       "103 48 10000"},
  };
  for (const Row& row : rows) {
    const Plan plan = plan_of(operation(row.tensors, row.formula));
    const bool merged = plan.extents.size() == 2;
    EXPECT_EQ(extents_of(plan), row.extents) << row.what;
    EXPECT_EQ(template_name(plan), merged ? "fused_tile" : "fused_sheared") << row.what;
    if (!merged) continue;
    EXPECT_EQ(plan.operands[0].reach, Reach::transposed) << row.what;
    EXPECT_EQ(plan.operands[0].access_bytes, 16) << row.what;
  }
}

TEST(ShearedTiles, AreLeftToOthersByTargetsAndKnobs) {
  Fused op = operation({{"x", u8, "(8191,8193):(1,8191)"}, {"y", u8, "(8191,8193):(8193,1)"}});
  EXPECT_EQ(template_name(plan_of(op, kAmpere)), "fused_sheared");
  op.tuning.tile = {64, 64};
  EXPECT_EQ(template_name(plan_of(op)), "fused_tile");
}

/// As many rows as make a line of memory; and a sector more columns than the tile has, in which
/// rows may begin.
TEST(ShearedTiles, FitInSharedMemory) {
  struct Row {
    std::vector<Tensor> tensors;
    const char* formula;
    int rows, shear;
  };
  const Row kRows[] = {
      {{{"x", u8, "(8191,8193):(1,8191)"}, {"y", u8, "(8191,8193):(8193,1)"}}, "y = x", 128, 32},
      {{{"x", f16, "(8191,8193):(1,8191)"}, {"y", f16, "(8191,8193):(8193,1)"}}, "y = x", 64, 16},
      {{{"x", f16, "(8191,8193):(1,8191)"}, {"y", u8, "(8191,8193):(8193,1)"}},
       "y = u8(x)",
       64,
       32},
      {{{"a", u8, "(8191,8193):(1,8191)"},
        {"b", u8, "(8191,8193):(1,8191)"},
        {"y", f16, "(8191,8193):(8193,1)"}},
       "y = a + b",
       128,
       16},
  };
  for (const Row& row : kRows) {
    const Plan plan = plan_of(operation(row.tensors, row.formula));
    const auto* const sheared = std::get_if<Sheared>(&plan.family);
    ASSERT_NE(sheared, nullptr) << to_json(plan);
    EXPECT_EQ(sheared->rows, row.rows) << to_json(plan);
    EXPECT_EQ(shear_of(plan), row.shear) << to_json(plan);
    EXPECT_LE(shared_bytes(plan, *sheared), device::kStaticSharedBytes) << to_json(plan);
    EXPECT_TRUE(plan.peeled);
    EXPECT_TRUE(counted_extent(plan, 0).is(8193 + row.shear - 1));
    EXPECT_EQ(unit_extent(plan, 0) * unit_extent(plan, sheared->mode),
              std::int64_t{plan.threads} * plan.unroll * plan.vector);
  }
}

}  // namespace
}  // namespace tilejit::plan
