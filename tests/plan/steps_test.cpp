// Plans of formulas with products: the parts, what is between them, what a launch sees.
#include <gtest/gtest.h>

#include "plans.hpp"
#include "support/specs.hpp"
#include "tilejit/error.hpp"

namespace tilejit::plan {
namespace {

TEST(StepPlans, AreOnePartForOneProduct) {
  const Fused op =
      test::make_op(bf16, {{"a", "(64,32)"}, {"b", "(32,48)"}, {"c", "48"}, {"d", "(64,48)"}},
                    "d = gelu(a @ b + c)");
  const Plan plan = plan_of(op);
  EXPECT_EQ(template_name(plan), "fused_parts");
  ASSERT_EQ(parts_of(plan).size(), 1U);
  const Plan& part = parts_of(plan)[0];
  EXPECT_EQ(template_name(part), "matmul_wgmma");
  EXPECT_EQ(part.kernel_name, "tilejit_test_bf16_part0");
  EXPECT_EQ(part.tensors, (std::vector{0, 1, 2, 3}));
  EXPECT_TRUE(std::get<Several>(plan.family).temporaries.empty());
}

TEST(StepPlans, LeaveValuesInMemory) {
  // A normalised operand, two products, and a reduction that takes two kernels.
  const Fused op =
      test::make_op(f32, {{"x", "(M,K)"}, {"w", "(K,N)"}, {"y", "(M,N)"}, {"z", "1:0"}},
                    "p = (x - sum(x)) @ w; y = p; z = sum(max(p), axis=0)");
  const Plan plan = plan_of(op);
  const auto& several = std::get<Several>(plan.family);
  ASSERT_EQ(several.parts.size(), 4U);
  EXPECT_EQ(template_name(several.parts[0]), "fused_rows");
  EXPECT_EQ(template_name(several.parts[1]), "matmul_simt");
  ASSERT_EQ(several.temporaries.size(), 3U);
  EXPECT_EQ(several.temporaries[0].elements, Dim("M") * Dim("K"));
  EXPECT_EQ(several.temporaries[1].elements, Dim("M") * Dim("N"));
  EXPECT_EQ(several.temporaries[2].elements, Dim("M")) << "of the step that is two kernels itself";
  EXPECT_EQ(several.parts[1].tensors, (std::vector{4, 1, 5})) << "an operand, w, the product";
  const operation::LaunchPlan launch = launch_plan(plan);
  EXPECT_EQ(launch.steps.size(), 4U);
  ASSERT_GE(launch.workspaces.size(), 3U);
  EXPECT_EQ(launch.workspaces[0].bytes, Dim("M") * Dim("K") * Dim(4));
  for (std::size_t part = 0; part < several.parts.size(); ++part)
    EXPECT_EQ(several.parts[part].kernel_name, "tilejit_test_f32_part" + std::to_string(part));
}

// An output of the same layout must not take an operand's place.
TEST(StepPlans, HaveNoTensorsThatMayReplaceEachOther) {
  const Fused op =
      test::make_op(f32, {{"a", "(8,8)"}, {"b", "(8,8)"}, {"d", "(8,8)"}}, "d = a @ b");
  const operation::LaunchPlan launch = launch_plan(plan_of(op));
  ASSERT_EQ(launch.elements.size(), 3U);
  EXPECT_NE(launch.elements[0], launch.elements[2]);
  EXPECT_NE(launch.elements[1], launch.elements[2]);
  EXPECT_FALSE(launch.extents[0].is(1)) << "places of one element are equal";
}

TEST(StepPlans, KeepFormulasOfOneSpaceAsTheyAre) {
  const std::vector<std::pair<std::string, std::string>> tensors = {{"x", "(8,8)"}, {"y", "(8,8)"}};
  const Plan plain = plan_of(test::make_op(f32, tensors, "y = x * 2"));
  const Plan noted = plan_of(test::make_op(f32, tensors, "y = x * 2  # x @ x.T"));
  EXPECT_EQ(plain, noted);
  EXPECT_EQ(template_name(plain), "fused_map");
}

TEST(StepPlans, TakeKnobsForOneStepOnly) {
  Fused op =
      test::make_op(f32, {{"a", "(8,8)"}, {"b", "(8,8)"}, {"d", "(8,8)"}}, "d = a @ (b / max(b))");
  op.tuning.vector = 1;
  try {
    (void)plan_of(op);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_spec);
    EXPECT_EQ(error.where(), "/tuning");
  }
}

TEST(StepPlans, ComputeOperandsOnTheirWay) {
  Fused op = test::make_op(bf16, {{"a", "(16,4096)"}, {"w", "(4096,4096)"}, {"d", "(16,4096)"}},
                           "d = a @ bf16(w * s) + 1");
  op.tensors[1].dtype = i8;
  op.scalars = {{.name = "s", .dtype = f32}};
  const Plan plan = plan_of(op);
  ASSERT_EQ(parts_of(plan).size(), 1U);
  const Plan& part = parts_of(plan)[0];
  const Matmul& product = *matmul_of(part);
  EXPECT_FALSE(product.a.is_computed());
  EXPECT_TRUE(product.b.is_computed());
  EXPECT_EQ(product.b.stored, i8);
  EXPECT_EQ(product.b.dtype, bf16);
  EXPECT_EQ(part.tensors, (std::vector{0, 1, 2}));
  EXPECT_EQ(launch_plan(plan).steps.size(), 1U);
  for (const Temporary& temporary : std::get<Several>(plan.family).temporaries)
    EXPECT_TRUE(temporary.elements.is(0));
}

TEST(StepPlans, ComputeOperandsBeforehandWhereThatIsCheaperOrNeedsOtherElements) {
  const auto parts = [](const std::string& rows, const std::string& formula) {
    const std::string a = "(" + rows + ",512)", d = "(" + rows + ",2048)";
    return parts_of(plan_of(test::make_op(
                        f16, {{"a", a}, {"b", "(512,2048)"}, {"c", "2048"}, {"d", d}}, formula)))
        .size();
  };
  EXPECT_EQ(parts("64", "d = a @ relu(b) + c"), 1U);
  EXPECT_EQ(parts("8", "d = relu(a) @ relu(b) + c"), 1U) << "small";
  EXPECT_EQ(parts("2048", "d = a @ relu(b) + c"), 2U) << "many tiles read each element";
  EXPECT_EQ(parts("M", "d = a @ relu(b) + c"), 2U) << "they may be many";
  EXPECT_EQ(parts("64", "d = a @ (b + c)"), 2U) << "of two tensors";
  EXPECT_EQ(parts("64", "d = a @ where(iota(0) > 3, b, 0) + c"), 2U) << "of places";
  EXPECT_EQ(parts("64", "d = a @ (b / max(b)) + c"), 2U) << "of rows";
  EXPECT_EQ(parts("8", "d = a @ relu(b) + (a + 1) @ relu(b) + c"), 3U) << "read twice";
}

TEST(StepPlans, AreTheSameTwiceAndDifferByWhatIsDifferent) {
  const auto json = [](const char* formula, const char* b) {
    return to_json(
        plan_of(test::make_op(f32, {{"a", "(8,16)"}, {"b", b}, {"d", "(8,16)"}}, formula)));
  };
  const std::string first = json("d = a @ b", "(16,16)");
  EXPECT_EQ(first, json("d = a @ b", "(16,16)"));
  EXPECT_NE(first, json("d = a @ b.T", "(16,16)"));
  EXPECT_NE(first, json("d = tf32(a) @ tf32(b)", "(16,16)"));
}

TEST(StepPlans, TakeATransposedTensorForALayout) {
  const auto part = [](const char* formula, const char* b) {
    const Plan plan =
        plan_of(test::make_op(f32, {{"a", "(8,16)"}, {"b", b}, {"d", "(8,16)"}}, formula));
    return to_json(parts_of(plan)[0]);
  };
  EXPECT_EQ(part("d = a @ b.T", "(16,16)"), part("d = a @ b", "(16,16):(1,16)"));
}

}  // namespace
}  // namespace tilejit::plan
