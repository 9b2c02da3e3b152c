// Maps whose vectors go on from one row to the next, run on the CPU against the reference.
#include "emulation/emulated.hpp"

namespace tilejit::test {
namespace {

bool is_flat(const Fused& op) {
  const plan::Plan plan =
      plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0, .feature = 'a'});
  const auto* const map = std::get_if<plan::Map>(&plan.family);
  return map != nullptr && map->flat;
}

TEST(EmulatedFlat, AgreesWithTheReference) {
  struct Case {
    const char* what;
    std::vector<Tensor> tensors;
    const char* formula = "y = x * w";
  };
  const Case cases[] = {
      {"a column that rows repeat",
       {{"x", bf16, "(2999,53):(53,1)"},
        {"w", bf16, "(2999,1):(1,0)"},
        {"y", bf16, "(2999,53):(53,1)"}}},
      {"a row that all repeat, of another type",
       {{"x", bf16, "(12001,11):(11,1)"},
        {"w", f32, "(1,11):(0,1)"},
        {"y", bf16, "(12001,11):(11,1)"}}},
      {"a mode in the middle, and a cut-off end",
       {{"x", i8, "(691,197,3):(591,3,1)"},
        {"w", bf16, "(1,197,1):(0,1,0)"},
        {"y", bf16, "(691,197,3):(591,3,1)"}},
       "y = bf16(x) * w"},
      {"two inputs with gaps",
       {{"x", f32, "(7,641,33):(21153,33,1)"},
        {"v", f32, "(1,1,33):(0,0,2)"},
        {"w", f32, "(1,641,1):(0,3,0)"},
        {"y", f32, "(7,641,33):(21153,33,1)"}},
       "y = x * v - w"},
      {"rows that go on only within a block of rows",
       {{"x", bf16, "(40,96,21):(2032,21,1)"},
        {"w", bf16, "(1,96,1):(0,1,0)"},
        {"y", bf16, "(40,96,21):(2032,21,1)"}}},
      {"in place",
       {{"w", f32, "(1,15):(0,1)"}, {"y", bf16, "(9001,15):(15,1)", Access::inout}},
       "y = y + w"},
      {"bytes",
       {{"x", u8, "(30011,7):(7,1)"}, {"w", u8, "(1,7):(0,1)"}, {"y", u8, "(30011,7):(7,1)"}},
       "y = x + w"},
      {"vectors in two short rows",
       {{"x", bf16, "(20003,7):(7,1)"},
        {"v", bf16, "(1,7):(0,1)"},
        {"w", bf16, "(20003,1):(1,0)"},
        {"y", bf16, "(20003,7):(7,1)"}},
       "y = x * v - w"},
      {"rows of a mode in the middle that come by halves",
       {{"x", f32, "(211,9,11,7):(693,77,7,1)"},
        {"w", f32, "(211,1,11,1):(11,0,1,0)"},
        {"y", f32, "(211,9,11,7):(693,77,7,1)"}}},
      {"only inputs that repeat",
       {{"x", bf16, "(4099,1):(1,0)"},
        {"w", bf16, "(1,37):(0,1)"},
        {"y", bf16, "(4099,37):(37,1)"}}},
  };
  EmulatedKernels kernels;
  for (const Case& c : cases) {
    const Fused op{.tensors = c.tensors, .formula = c.formula};
    EXPECT_TRUE(is_flat(op)) << c.what;
    kernels.add(c.what, {.op = op, .symbols = {}, .scalars = {}});
  }
  ASSERT_TRUE(kernels.compile());
  Random random(27);
  kernels.verify_all(random);
}

}  // namespace
}  // namespace tilejit::test
