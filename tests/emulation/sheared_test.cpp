// The kernels of transposed operands whose rows are not aligned, run on the CPU against the
// reference.
#include "emulation/emulated.hpp"

namespace tilejit::test {
namespace {

/// Of batches of small matrices, so that there are many tiles.
TEST(EmulatedShearedTiles, AgreeWithTheReference) {
  struct Case {
    const char* what;
    std::vector<Tensor> tensors;
    const char* formula = "y = x";
  };
  const Case cases[] = {
      {"pairs of bytes",
       {{"x", f16, "(170,49,241):(11809,1,49)"}, {"y", f16, "(170,49,241):(11809,241,1)"}},
       "y = x * 2.0"},
      {"in place",
       {{"x", bf16, "(170,49,239):(11711,1,49)"},
        {"y", bf16, "(170,49,239):(11711,239,1)", Access::inout}},
       "y = y + x"},
      {"two, and a value of each row",
       {{"a", u8, "(170,107,241):(25787,1,107)"},
        {"b", u8, "(170,107,241):(26269,1,109)"},
        {"r", i16, "(170,107,241):(107,1,0)"},
        {"y", i16, "(170,107,241):(25787,241,1)"}},
       "y = (i16(a) + i16(b)) * r"},
      {"places",
       {{"x", f16, "(170,49,237):(11613,1,49)"}, {"y", i16, "(170,49,237):(11613,237,1)"}},
       "y = i16(x) + i16(iota(2) % 100)"},
      {"lines that are aligned, of rows that are not",
       {{"x", f16, "(170,56,241):(13496,1,56)"}, {"y", f16, "(170,56,241):(13496,241,1)"}}},
      {"rows that are aligned, of lines that are not",
       {{"x", f16, "(170,49,240):(11760,1,49)"}, {"y", f16, "(170,49,240):(11760,240,1)"}}},
      {"bytes, of an input at any address",
       {{.name = "x", .dtype = u8, .layout = {"(170,107,225):(24075,1,107)"}, .align = 1},
        {"z", u8, "(170,107,225):(24075,225,1)"},
        {"y", u8, "(170,107,225):(24075,225,1)"}},
       "y = max(x, z)"},
      {"lines that go on in another tile",
       {{"x", f16, "(90,101,241):(24341,1,101)"}, {"y", f16, "(90,101,241):(24341,241,1)"}}},
      {"the same of bytes, and lines with gaps",
       {{"x", u8, "(90,223,225):(50625,1,225)"},
        {"z", u8, "(90,223,225):(50175,1,223)"},
        {"y", u8, "(90,223,225):(50175,225,1)"}},
       "y = max(x, z)"},
  };
  EmulatedKernels kernels;
  for (const Case& c : cases) {
    const Fused op{.tensors = c.tensors, .formula = c.formula};
    const plan::Plan plan =
        plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0, .feature = 'a'});
    EXPECT_EQ(template_name(plan), "fused_sheared") << c.what;
    kernels.add(c.what, {.op = op, .symbols = {}, .scalars = {}});
  }
  ASSERT_TRUE(kernels.compile());
  Random random(17);
  kernels.verify_all(random);
}

/// Rows that are not aligned, but are together with those of the next mode; and short lines of an
/// input that go on along another mode than the output.
TEST(EmulatedTiles, OfMergedColumnsAgreeWithTheReference) {
  const Fused ops[] = {{.tensors = {{"x", f16, "(344,64,103):(1,344,22016)"},
                                    {"z", f16, "(344,64,103):(6592,103,1)"},
                                    {"y", f16, "(344,64,103):(6592,103,1)"}},
                        .formula = "y = x + z * 2.0"},
                       {.tensors = {{"x", f16, "(24,65,1544):(1,24,1560)"},
                                    {"w", f16, "(24,65,1544):(0,0,0)"},
                                    {"y", f16, "(24,65,1544):(100360,1544,1)"}},
                        .formula = "y = x * w"},
                       {.tensors = {{"x", f16, "(24,64,1552):(1,24,1536)"},
                                    {"y", f16, "(24,64,1552):(99328,1552,1)", Access::inout}},
                        .formula = "y = y + x"}};
  EmulatedKernels kernels;
  for (const Fused& op : ops) {
    const plan::Plan plan =
        plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0, .feature = 'a'});
    EXPECT_EQ(template_name(plan), "fused_tile");
    EXPECT_EQ(plan.extents.size(), 2U);
    kernels.add("merged columns", {.op = op, .symbols = {}, .scalars = {}});
  }
  ASSERT_TRUE(kernels.compile());
  Random random(18);
  kernels.verify_all(random);
}

}  // namespace
}  // namespace tilejit::test
