// Rows that begin at unaligned addresses: vectors that are peeled at the ends of rows, or shifted
// in registers, in each family that has them.
#include <optional>

#include "gpu/device_data.hpp"
#include "gpu/gpu_fixture.hpp"
#include "plan/plan.hpp"
#include "support/specs.hpp"

namespace tilejit::test {
namespace {

class OddRows : public Gpu {};

struct Case {
  const char* what;
  std::vector<Tensor> tensors;
  const char* formula;
  std::vector<int> axis = {1};
};

Tensor matrix(const char* name, DType dtype, const char* layout,
              Access access = Access::automatic) {
  return {name, dtype, layout, access};
}

/// The operation with vectors of 16 bytes of the first tensor, if its rows are then peeled: the
/// planner takes them only for many elements.
std::optional<Fused> with_peeled_vectors(Fused op) {
  op.tuning.vector = 16 / size_bytes(op.tensors[0].dtype);
  try {
    const plan::Plan plan = plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0});
    return plan.peeled ? std::optional(op) : std::nullopt;
  } catch (const Error&) {  // vectors are not aligned, and rows are not peeled
    return std::nullopt;
  }
}

TEST_F(OddRows, AgreeWithTheReference) {
  std::vector<Case> cases;
  for (const DType dtype : {f32, f16, bf16}) {
    for (const char* const layout :
         {"(37,129):(129,1)", "(37,385):(391,1)", "(5,4099):(4099,1)", "(3,50257):(50257,1)"}) {
      const Tensor x = matrix("x", dtype, layout), y = matrix("y", dtype, layout);
      cases.push_back({"register_vectors", {x, y}, "e = exp(x - max(x)); y = e / sum(e)"});
      cases.push_back({"in place",
                       {matrix("x", dtype, layout, Access::inout)},
                       "x = x * rsqrt(mean(x * x) + 1e-5)"});
      cases.push_back({"scanned", {x, y}, "y = cumsum(x)"});
      cases.push_back({"places", {x, y}, "y = x + f32(iota(1)) - f32(iota(0))"});
    }
    cases.push_back({"weights",
                     {matrix("x", dtype, "(9,1003):(1003,1)"), matrix("g", dtype, "1003:1"),
                      matrix("b", f32, "1003:1"), matrix("y", dtype, "(9,1003):(1005,1)")},
                     "y = (x - mean(x)) * rsqrt(var(x) + 1e-5) * g + b"});
    cases.push_back({"weights, and what is scanned of them is held",
                     {matrix("x", dtype, "(37,1003):(1003,1)"), matrix("g", dtype, "1003:1"),
                      matrix("y", dtype, "(37,1003):(1005,1)")},
                     "y = cumsum(x / (abs(g) + 1))"});
    cases.push_back({"two orders, which agree about pairs",
                     {matrix("x", dtype, "(211,7,429):(3003,429,1)"),
                      matrix("y", dtype, "(211,7,429):(3003,429,1)"),
                      matrix("z", dtype, "(211,7,429):(429,90519,1)")},
                     "y = x + 1; z = x * x",
                     {}});
    cases.push_back({"weights that several passes need",
                     {matrix("x", dtype, "(9,513):(513,1)"), matrix("g", dtype, "513:1"),
                      matrix("y", dtype, "(9,513):(513,1)")},
                     "v = x + g; e = exp(v - max(v)); y = e / sum(e)"});
    cases.push_back(
        {"rows of one address, and of another",
         {matrix("x", dtype, "(5,7,515):(515,2575,1)"), matrix("b", dtype, "(1,1,515):(0,0,1)"),
          matrix("y", dtype, "(5,7,515):(3605,515,1)")},
         "y = relu(x + b)",
         {}});
    cases.push_back({"shorter than a vector or a few, and a column that they repeat",
                     {matrix("x", dtype, "(5003,53):(53,1)"), matrix("b", dtype, "(5003,1):(1,0)"),
                      matrix("y", dtype, "(5003,53):(53,1)")},
                     "y = relu(x * b)",
                     {}});
    cases.push_back({"of three elements, in place, and inputs that repeat in two modes",
                     {matrix("y", dtype, "(691,197,3):(591,3,1)", Access::inout),
                      matrix("b", f32, "(1,197,1):(0,1,0)"), matrix("g", dtype, "(1,1,3):(0,0,1)")},
                     "y = y * g + b",
                     {}});
    cases.push_back({"of short columns",
                     {matrix("x", dtype, "(4001,13,11):(143,11,1)"),
                      matrix("y", dtype, "(4001,1,11):(11,11,1)")},
                     "y = sum(x)"});
    cases.push_back(
        {"few, and of few vectors",
         {matrix("x", dtype, "(1229,17,5):(85,5,1)"), matrix("b", dtype, "(1,1,5):(0,0,1)"),
          matrix("y", dtype, "(1229,1,1):(1,0,0)")},
         "y = max(x * b) + log(sum(exp(x * b - max(x * b))))",
         {1, 2}});
    cases.push_back(
        {"transposed, both ways",
         {matrix("x", dtype, "(1003,131):(1,1003)"), matrix("z", dtype, "(1003,131):(131,1)"),
          matrix("y", dtype, "(1003,131):(131,1)"), matrix("w", dtype, "(1003,131):(1,1003)")},
         "y = x + z; w = x - z",
         {}});
    for (const char* const layout : {"(17,3,1001):(3003,1001,1)", "(2,1030,131):(134930,131,1)"}) {
      const char* const row =
          layout[1] == '1' ? "(17,1,1001):(1001,1001,1)" : "(2,1,131):(131,131,1)";
      cases.push_back({"columns, read once",
                       {matrix("x", dtype, layout), matrix("y", dtype, row)},
                       "y = sum(x)"});
      cases.push_back({"columns, and their places",
                       {matrix("x", dtype, layout), matrix("y", i64, row)},
                       "y = argmin(x)"});
    }
    cases.push_back(
        {"columns beside each other in few lines",
         {matrix("x", dtype, "(20011,8,5):(40,5,1)"), matrix("y", dtype, "(20011,8,5):(40,5,1)")},
         "y = (x - mean(x)) * rsqrt(var(x) + 1e-5)"});
    const char* const strips = "(6,701,3001):(2103701,3001,1)";
    cases.push_back({"columns in strips",
                     {matrix("x", dtype, strips), matrix("y", dtype, strips)},
                     "e = exp(x - max(x)); y = e / sum(e)"});
    cases.push_back({"columns in strips, in place",
                     {matrix("x", dtype, strips, Access::inout)},
                     "e = exp(x - max(x)); x = e / sum(e)"});
    cases.push_back({"columns whose results lie in another order",
                     {matrix("x", dtype, "(96,64,33):(1,3168,96)"),
                      matrix("y", dtype, "(96,64,33):(2112,33,1)")},
                     "e = exp(x - max(x)); y = e / sum(e)"});
    cases.push_back({"even ones with weights of wider elements",
                     {matrix("x", dtype, "(131,2048):(2048,1)"), matrix("g", f32, "(1,2048):(0,1)"),
                      matrix("y", dtype, "(131,2048):(2048,1)")},
                     "y = x * rsqrt(mean(x * x) + 1e-5) * g"});
    cases.push_back({"the same without a reduction",
                     {matrix("x", dtype, "(131,2048):(2048,1)"), matrix("g", f32, "(1,2048):(0,1)"),
                      matrix("y", dtype, "(131,2048):(2048,1)")},
                     "y = relu(x * g)",
                     {}});
    cases.push_back({"columns, scanned",
                     {matrix("x", dtype, "(3,513,129):(66177,129,1)"),
                      matrix("y", dtype, "(3,513,129):(66177,129,1)")},
                     "y = cumsum(x)"});
  }
  cases.push_back({"views that begin anywhere",
                   {{"x", bf16, "(37,1027):(2054,1)", Access::in, 2},
                    {"z", bf16, "(37,1027):(1063,1)", Access::in, 4},
                    {"y", bf16, "(37,1027):(1027,1)"}},
                   "y = x * z",
                   {}});
  cases.push_back({"bytes",
                   {matrix("x", u8, "(9,1003):(1003,1)"), matrix("y", i32, "9:1")},
                   "y = sum(i32(x))"});
  cases.push_back({"transposed bytes",
                   {matrix("x", u8, "(511,383):(1,511)"), matrix("y", u8, "(511,383):(383,1)")},
                   "y = x * 2",
                   {}});
  cases.push_back({"transposed bytes, of which the last lies alone",
                   {matrix("x", u8, "(511,383):(1,514)"), matrix("y", u8, "(511,383):(384,1)")},
                   "y = x * 2",
                   {}});
  Random random(20261123);
  int peeled = 0;
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.what) + " " + std::string(to_string(c.tensors[0].dtype)));
    const Fused op{.tensors = c.tensors, .formula = c.formula, .axis = c.axis};
    run_and_verify({.op = op, .symbols = {}, .scalars = {}}, random);
    const std::optional<Fused> whole = with_peeled_vectors(op);
    if (whole) run_and_verify({.op = *whole, .symbols = {}, .scalars = {}}, random);
    peeled += whole.has_value();
  }
  EXPECT_GT(peeled, 0);
}

/// Strips store columns that their neighbours still reduce, unless input and output are one.
TEST_F(OddRows, InStripsMayBeStoredWhereTheyWereRead) {
  const char* const layout = "(6,701,3001):(2103701,3001,1)";
  const Fused op{.tensors = {{"x", f32, layout}, {"y", f32, layout}},
                 .formula = "e = exp(x - max(x)); y = e / sum(e)",
                 .axis = {1}};
  const plan::Plan plan = plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0});
  ASSERT_TRUE(std::holds_alternative<plan::Strips>(plan.family));
  std::vector<float> values(6 * 2103701);
  Random random(20261126);
  for (float& value : values) value = std::uniform_real_distribution<float>(-1, 1)(random);
  const Kernel kernel = runtime()->compile(op);
  const Buffer x = upload(*runtime(), values), y = upload(*runtime(), values);
  kernel.launch(nullptr, {x, y});
  kernel.launch(nullptr, {x, x});
  EXPECT_EQ(download<float>(x), download<float>(y));
}

}  // namespace
}  // namespace tilejit::test
