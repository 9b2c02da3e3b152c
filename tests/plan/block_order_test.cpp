// The order in which the blocks of tiles and boxes are counted.
#include "plan/block_order.hpp"

#include <gtest/gtest.h>

#include "plan/plans.hpp"
#include "support/specs.hpp"

namespace tilejit::plan {
namespace {

std::vector<std::size_t> order_of(DType dtype, const char* x, const char* y) {
  return order_of_blocks(plan_of(test::make_op(dtype, {{"x", x}, {"y", y}}, "y = x")));
}

TEST(BlockOrder, HasNeighboursFollowBeforeTheirSectorsAreLost) {
  struct Row {
    const char* what;
    DType dtype;
    const char *x, *y, *family;
    std::vector<std::size_t> order;
  };
  const Row rows[] = {
      {"runs that end within sectors, of which the next tile along them has the rest",
       f32,
       "(101,160439):(1,101)",
       "(101,160439):(160439,1)",
       "fused_tile",
       {1, 0}},
      {"the same of 2 bytes",
       f16,
       "(395,168145):(1,395)",
       "(395,168145):(168145,1)",
       "fused_sheared",
       {1, 0}},
      {"runs that end with sectors",
       f32,
       "(104,160439):(1,104)",
       "(104,160439):(160439,1)",
       "fused_tile",
       {0, 1}},
      {"neighbours that come soon",
       f32,
       "(101,8191):(1,101)",
       "(101,8191):(8191,1)",
       "fused_box",
       {0, 1}},
      {"rows of which blocks at once have long pieces",
       f16,
       "(1386,68145):(1,1386)",
       "(1386,68145):(68145,1)",
       "fused_sheared",
       {1, 0}},
      {"too many rows at a time",
       f16,
       "(3386,68145):(1,3386)",
       "(3386,68145):(68145,1)",
       "fused_sheared",
       {0, 1}},
      {"too many rows of boxes with short pieces",
       f16,
       "(942,192,3,15,9):(1,381510,14130,942,42390)",
       "(942,192,3,15,9):(77760,405,135,9,1)",
       "fused_box",
       {0, 1, 2, 3}},
      {"outputs would lose more",
       f32,
       "(9001,8191):(1,9001)",
       "(9001,8191):(8191,1)",
       "fused_tile",
       {0, 1}},
  };
  for (const Row& row : rows) {
    const Fused op = test::make_op(row.dtype, {{"x", row.x}, {"y", row.y}}, "y = x");
    EXPECT_EQ(template_name(plan_of(op)), row.family) << row.what;
    EXPECT_EQ(order_of(row.dtype, row.x, row.y), row.order) << row.what;
  }
}

/// Where the runs of all blocks along the first mode end within bursts that are lost until the next
/// ones come, groups of blocks follow one another along the mode by which runs go on.
TEST(BlockOrder, HasGroupsFollowBeforeTheirBurstsAreLost) {
  const auto order = [](const std::string& shape, const std::string& x, const std::string& y,
                        const std::string& z) {
    return order_of_blocks(plan_of(
        test::make_op(f32, {{"x", shape + ":" + x}, {"y", shape + ":" + y}, {"z", shape + ":" + z}},
                      "y = clamp(x, -1.0, 1.0); z = sin(y)")));
  };
  EXPECT_EQ(order("(79,10,3147,12)", "(377640,12,120,1)", "(377640,37764,12,1)", "(1,79,9480,790)"),
            (std::vector<std::size_t>{3, 2, 0, 1}))
      << "the next ones of mode 2 would come 73 MB later";
  EXPECT_EQ(order("(79,10,1147,12)", "(137640,12,120,1)", "(137640,13764,12,1)", "(1,79,9480,790)"),
            (std::vector<std::size_t>{3, 0, 1, 2}))
      << "27 MB";
}

TEST(BlockOrder, IsOfAllModes) {
  Plan plan = plan_of(test::make_op(
      bf16, {{"x", "(71,2048,3,9):(1,1917,71,213)"}, {"y", "(71,2048,3,9):(55296,27,9,1)"}},
      "y = x"));
  EXPECT_EQ(order_of_blocks(plan), (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(to_json(plan).find("\"first\""), std::string::npos);
  std::get<Box>(plan.family).first = 2;
  EXPECT_EQ(order_of_blocks(plan), (std::vector<std::size_t>{2, 0, 1, 3}));
  EXPECT_NE(to_json(plan).find("\"first\":2"), std::string::npos);
}

TEST(BlockOrder, IsNoMatterOfUnknownExtents) {
  EXPECT_EQ(order_of(f32, "(101,N):(1,101)", "(101,N):(N,1)"), (std::vector<std::size_t>{0, 1}));
}

}  // namespace
}  // namespace tilejit::plan
