// Boxes: operands that are contiguous along several or short modes, each in an order of its own.
#include "gpu/gpu_fixture.hpp"
#include "plan/block_order.hpp"
#include "plan/plan.hpp"

namespace tilejit::test {
namespace {

class Boxes : public Gpu {};

TEST_F(Boxes, AgreeWithTheReference) {
  struct Case {
    const char* what;
    std::vector<Tensor> tensors;
    const char* formula = "y = x";
  };
  std::vector<Case> cases;
  for (const DType dtype : {u8, f16, bf16, f32, f64}) {
    cases.push_back({"runs of three modes against one of two",
                     {{"x", dtype, "(23,3,7,359,5):(1,57799,8257,23,173397)"},
                      {"y", dtype, "(23,3,7,359,5):(37695,12565,1795,5,1)"}}});
    cases.push_back(
        {"every second element",
         {{"x", dtype, "(3,35,4597):(321790,2,70)"}, {"y", dtype, "(3,35,4597):(160895,4597,1)"}}});
    cases.push_back({"two orders of inputs, in place in a third",
                     {{"x", dtype, "(11,64,801):(1,11,704)"},
                      {"y", dtype, "(11,64,801):(51264,801,1)"},
                      {"z", dtype, "(11,64,801):(64,1,704)", Access::inout}},
                     "y = x + z; z = x"});
  }
  cases.push_back({"runs of two modes, one input repeated, and places",
                   {{"x", i64, "(39,5,819,5):(5,1,195,159705)"},
                    {"w", i64, "(39,1,819,1):(819,0,1,0)"},
                    {"y", i64, "(39,5,819,5):(20475,4095,5,1)"}},
                   "y = x - w + iota(2)"});
  Random random(20261124);
  int boxes = 0;
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.what) + " " + std::string(to_string(c.tensors[0].dtype)));
    const Fused op{.tensors = c.tensors, .formula = c.formula};
    const plan::Plan plan = plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0});
    boxes += std::holds_alternative<plan::Box>(plan.family);
    run_and_verify({.op = op, .symbols = {}, .scalars = {}}, random);
  }
  EXPECT_GE(2 * boxes, static_cast<int>(cases.size()));
}

// Large enough that caches lose sectors between tiles which share them.
TEST_F(Boxes, AndTilesAreCountedInOtherOrders) {
  struct Case {
    const char* family;
    std::vector<Tensor> tensors;
  };
  const Case cases[] = {
      {"fused_sheared", {{"x", f16, "(139,51001):(1,139)"}, {"y", f16, "(139,51001):(51001,1)"}}},
      {"fused_box", {{"x", f16, "(395,25000):(1,395)"}, {"y", f32, "(395,25000):(25000,1)"}}},
  };
  Random random(20261126);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.family);
    const Fused op{.tensors = c.tensors, .formula = "y = x"};
    const plan::Plan plan = plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0});
    EXPECT_EQ(plan::template_name(plan), c.family);
    EXPECT_EQ(plan::order_of_blocks(plan), (std::vector<std::size_t>{1, 0}));
    run_and_verify({.op = op, .symbols = {}, .scalars = {}}, random);
  }
}

TEST_F(Boxes, AndTilesOfOtherSidesAgreeWithTheReference) {
  const std::vector<Fused> ops = {
      // tiles of 48 instead of 64 columns
      {.tensors = {{"x", f32, "(20000,288):(1,20000)"}, {"y", f32, "(20000,288):(288,1)"}},
       .formula = "y = x"},
      // the output passes through shared memory in place of two inputs
      {.tensors = {{"x", f32, "(101,7003):(1,101)"},
                   {"z", f32, "(101,7003):(1,101)"},
                   {"y", f32, "(101,7003):(7003,1)"}},
       .formula = "y = min(x, z)"},
      // boxes with what lies behind gaps
      {.tensors = {{"x", f16, "(2,2,4,12,1921):(1,76840,10,153680,40)"},
                   {"y", f16, "(2,2,4,12,1921):(184416,92208,23052,1921,1)"}},
       .formula = "y = x"},
      // shorter boxes
      {.tensors = {{"x", bf16, "(184067,7):(1,184067)"},
                   {"w", bf16, "(184067,1):(1,0)"},
                   {"y", bf16, "(184067,7):(7,1)"}},
       .formula = "y = x + w"},
  };
  Random random(20261127);
  for (const Fused& op : ops) {
    SCOPED_TRACE(to_string(op.tensors.front().layout));
    run_and_verify({.op = op, .symbols = {}, .scalars = {}}, random);
  }
}

}  // namespace
}  // namespace tilejit::test
