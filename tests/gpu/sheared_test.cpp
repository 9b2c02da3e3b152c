// Sheared tiles: transposed operands of narrow elements whose rows are not aligned.
#include "gpu/gpu_fixture.hpp"
#include "plan/plan.hpp"

namespace tilejit::test {
namespace {

class ShearedTiles : public Gpu {};

TEST_F(ShearedTiles, AgreeWithTheReference) {
  struct Case {
    const char* what;
    std::vector<Tensor> tensors;
    const char* formula = "y = x";
  };
  std::vector<Case> cases;
  for (const DType dtype : {u8, f16, bf16}) {
    cases.push_back({"odd sides",
                     {{"x", dtype, "(2047,2801):(1,2047)"}, {"y", dtype, "(2047,2801):(2801,1)"}}});
    cases.push_back({"gaps, beside another operand",
                     {{"x", dtype, "(2047,2801):(1,2051)"},
                      {"z", dtype, "(2047,2801):(2803,1)"},
                      {"y", dtype, "(2047,2801):(2803,1)"}},
                     "y = max(x, z)"});
    cases.push_back({"many matrices, in place",
                     {{"x", dtype, "(99,255,225):(57375,1,255)"},
                      {"y", dtype, "(99,255,225):(57375,225,1)", Access::inout}},
                     "y = max(x, y)"});
  }
  Random random(20261126);
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.what) + " " + std::string(to_string(c.tensors[0].dtype)));
    const Fused op{.tensors = c.tensors, .formula = c.formula};
    const plan::Plan plan = plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0});
    EXPECT_TRUE(std::holds_alternative<plan::Sheared>(plan.family));
    run_and_verify({.op = op, .symbols = {}, .scalars = {}}, random);
  }
}

}  // namespace
}  // namespace tilejit::test
