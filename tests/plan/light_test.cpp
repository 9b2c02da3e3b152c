#include "light/light.hpp"

#include <gtest/gtest.h>

#include "plan/plans.hpp"

namespace tilejit::plan {
namespace {

Fused op_of(std::vector<Tensor> tensors, const std::string& formula) {
  return {.tensors = std::move(tensors), .formula = formula};
}

std::optional<Plan> light_of(const Fused& op) {
  return make_light_plan(op, formula::analyze(op), plan_of(op));
}

TEST(LightPlan, TakesRowsByOneBlockEach) {
  Fused op = op_of({{"x", f16, "(64,20000):(20000,1)"}, {"y", f16, "(64,20000):(20000,1)"}},
                   "y = x / sum(x)");
  op.tuning.row_threads = 256;  // of the full plan
  const auto light = light_of(op);
  ASSERT_TRUE(light);
  EXPECT_EQ(template_name(*light), "fused_light");
  EXPECT_EQ(light->vector, 1);
  EXPECT_EQ(rows_of(*light)->row_threads, 1024);
  EXPECT_EQ(light->threads, 1024);
  EXPECT_EQ(rows_of(*light)->cluster, 1);
  EXPECT_EQ(rows_of(*light)->register_vectors, 0);
  EXPECT_EQ(launch_plan(*light).steps.size(), 1u);
  EXPECT_EQ(dynamic_shared_bytes(*light), 0);
  EXPECT_EQ(partials_bytes(*light), 0);
  EXPECT_EQ(light->kernel_name, plan_of(op).kernel_name);
  EXPECT_NE(to_json(*light), to_json(plan_of(op)));
}

TEST(LightPlan, ShortRowsShareBlocksAndColumnsLieSideBySide) {
  const auto rows =
      light_of(op_of({{"x", f32, "(64,100):(100,1)"}, {"y", f32, "64:1"}}, "y = max(x)"));
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows_of(*rows)->row_threads, 8);
  EXPECT_EQ(rows->threads, 128);
  const auto columns =
      light_of(op_of({{"x", f32, "(500,64):(64,1)"}, {"y", f32, "64:1"}}, "y = max(x, axis=0)"));
  ASSERT_TRUE(columns);
  EXPECT_FALSE(rows_of(*columns)->along());
  EXPECT_EQ(rows_of(*columns)->row_threads, 32);
  EXPECT_EQ(units_per_block(*columns), 32);
}

TEST(LightPlan, OfATileTakesElementsInAnyOrder) {
  const auto light =
      light_of(op_of({{"x", f16, "(512,512):(1,512)"}, {"y", f16, "(512,512):(512,1)"}}, "y = x"));
  ASSERT_TRUE(light);
  EXPECT_EQ(template_name(*light), "fused_map");
  EXPECT_TRUE(is_light(*light));
}

TEST(LightPlan, ThereIsNoneWhereItIsNoLighterOrTooSlow) {
  EXPECT_FALSE(light_of(op_of({{"x", f32, "4096:1"}, {"y", f32, "4096:1"}}, "y = exp(x)")));
  EXPECT_FALSE(light_of(op_of({{"x", f32, "4194305:1"}, {"y", f32, "1:1"}}, "y = sum(x)")));
  EXPECT_TRUE(light_of(op_of({{"x", f32, "4194304:1"}, {"y", f32, "1:1"}}, "y = sum(x)")));
  // Chains of additions would be longer than verification allows.
  EXPECT_FALSE(light_of(op_of({{"x", f32, "200000:1"}, {"y", f32, "200000:1"}}, "y = cumsum(x)")));
  EXPECT_FALSE(light_of(op_of({{"x", f32, "N:1"}, {"y", f32, "N:1"}}, "y = cumsum(x)")));
  EXPECT_TRUE(light_of(op_of({{"x", f32, "120000:1"}, {"y", f32, "120000:1"}}, "y = cumsum(x)")));
  EXPECT_TRUE(light_of(op_of({{"x", f32, "(M,N):(N,1)"}, {"y", f32, "M:1"}}, "y = sum(x)")));
}

TEST(LightPlan, OfAProductIsWithoutTensorCores) {
  Fused op = op_of({{"a", bf16, "(512,4096)"}, {"b", bf16, "(4096,512)"}, {"d", bf16, "(512,512)"}},
                   "d = gelu(a @ b)");
  op.tuning.splits = 3;  // of the full plan
  const auto light = light_of(op);
  ASSERT_TRUE(light);
  ASSERT_EQ(parts_of(*light).size(), 1u);
  const Plan& part = parts_of(*light).front();
  EXPECT_EQ(template_name(part), "matmul_simt");
  EXPECT_EQ(matmul_of(part)->splits, 1);
  EXPECT_EQ(launch_plan(*light).workspaces.size(), 0u);
  EXPECT_EQ(light->kernel_name, plan_of(op).kernel_name);
  EXPECT_EQ(light->params, plan_of(op).params);
}

TEST(LightPlan, OfStepsTakesTheLightPlanOfEach) {
  const auto light =
      light_of(op_of({{"a", f32, "(M,512)"}, {"b", f16, "(512,512)"}, {"d", f16, "(M,512)"}},
                     "d = f16(a / max(a)) @ b"));
  ASSERT_TRUE(light);
  ASSERT_EQ(parts_of(*light).size(), 2u);
  EXPECT_TRUE(is_light(parts_of(*light)[0]));
  EXPECT_EQ(template_name(parts_of(*light)[1]), "matmul_simt");
  EXPECT_EQ(parts_of(*light)[1].kernel_name, light->kernel_name + "_part1");
}

TEST(LightPlan, OfProductsThatTakeLongThereIsNone) {
  const auto product = [](const std::string& n) {
    const std::string square = "(" + n + "," + n + ")";
    return op_of({{"a", bf16, square}, {"b", bf16, square}, {"d", bf16, square}}, "d = a @ b");
  };
  EXPECT_TRUE(light_of(product("8192")));
  EXPECT_FALSE(light_of(product("16384")));
  EXPECT_FALSE(light_of(op_of({{"x", f32, "(64,32)"}, {"y", f32, "(32,64)"}}, "y = x.T")));
}

TEST(LightPlan, AddsUpLongRowsInChains) {
  EXPECT_EQ(light_chain(*light_of(op_of({{"x", f32, "1000:1"}, {"y", f32, "1:1"}}, "y = sum(x)"))),
            0);
  EXPECT_EQ(
      light_chain(*light_of(op_of({{"x", f32, "1000000:1"}, {"y", f32, "1:1"}}, "y = sum(x)"))),
      128);
  EXPECT_EQ(
      light_chain(*light_of(op_of({{"x", f32, "(M,N):(N,1)"}, {"y", f32, "M:1"}}, "y = sum(x)"))),
      128);
}

TEST(LightPlan, AccumulatorsHaveRoomInSharedMemory) {
  std::string formula = "y = 0.0";
  for (int i = 1; i <= 24; ++i) formula += " + sum(x * " + std::to_string(i) + ".5)";
  const auto light =
      light_of(op_of({{"x", f64, "(64,30000):(30000,1)"}, {"y", f64, "64:1"}}, formula));
  ASSERT_TRUE(light);
  EXPECT_EQ(light->threads, 64);
}

}  // namespace
}  // namespace tilejit::plan
