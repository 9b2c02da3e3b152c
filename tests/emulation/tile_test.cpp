// The kernels of operands that pass through shared memory, run on the CPU against the reference.
#include "emulation/emulated.hpp"

namespace tilejit::test {
namespace {

TEST(EmulatedTiles, AgreeWithTheReference) {
  struct Case {
    const char* what;
    std::vector<Tensor> tensors;
    const char* formula = "y = x";
    Tuning tuning = {};
  };
  const Case cases[] = {
      {"bytes", {{"x", u8, "(256,256):(1,256)"}, {"y", u8, "(256,256):(256,1)"}}},
      {"pairs", {{"x", bf16, "(128,256):(1,128)"}, {"y", bf16, "(128,256):(256,1)"}}},
      {"words", {{"x", f32, "(128,64):(1,128)"}, {"y", f32, "(128,64):(64,1)"}}},
      {"double words", {{"x", f64, "(64,64):(1,64)"}, {"y", f64, "(64,64):(64,1)"}}},
      {"bytes of odd rows", {{"x", i8, "(203,301):(1,203)"}, {"y", i8, "(203,301):(301,1)"}}},
      {"pairs of odd rows", {{"x", i16, "(75,133):(1,75)"}, {"y", i16, "(75,133):(133,1)"}}},
      {"a side of four",
       {{"x", f32, "(4,1200):(1,4)"}, {"y", f32, "(4,1200):(1200,1)"}},
       "y = x * 2.0"},
      {"two ways, of two types",
       {{"x", f32, "(96,100):(1,96)"},
        {"b", bf16, "(96,100):(100,1)"},
        {"y", f32, "(96,100):(100,1)"},
        {"z", bf16, "(96,100):(1,96)"}},
       "y = x + b; z = x - b"},
      {"the first output alone in its order",
       {{"x", f32, "(75,133):(1,75)"},
        {"b", bf16, "(75,133):(1,75)"},
        {"y", f32, "(75,133):(133,1)"},
        {"z", bf16, "(75,133):(1,75)"}},
       "y = x + b; z = x - b"},
      {"in place",
       {{"x", f32, "(64,80):(80,1)"}, {"y", f32, "(64,80):(1,64)", Access::inout}},
       "y = y + x"},
      {"columns cut off, whose rows are aligned",
       {{"x", bf16, "(160,133):(1,160)"}, {"y", bf16, "(160,133):(133,1)"}},
       "y = x * 2.0",
       {.vector = 8}},
      {"rows cut off, of columns that are aligned but not whole vectors",
       {{"x", bf16, "(150,133):(1,152)"}, {"y", bf16, "(150,133):(133,1)"}},
       "y = x * 2.0",
       {.vector = 8}},
      {"both cut off, of bytes at odd addresses",
       {{"x", u8, "(147,149):(1,147)"},
        {"z", u8, "(147,149):(149,1)"},
        {"y", u8, "(147,149):(149,1)"}},
       "y = max(x, z)",
       {.vector = 8}},
      {"rows cut off, that come in pieces",
       {{"x", f16, "(148,200):(1,148)"}, {"y", f16, "(148,200):(200,1)"}},
       "y = x * 2.0",
       {.vector = 8}},
      {"rows cut off, of which the last piece is half a pair of bytes",
       {{"x", u8, "(149,77):(1,150)"}, {"y", u8, "(149,77):(80,1)"}},
       "y = x",
       {.vector = 4}},
      {"rows cut off, of which the last piece lies across the tensor's end",
       {{"x", f16, "(149,77):(1,152)"}, {"y", f16, "(149,77):(80,1)"}},
       "y = x * 2.0",
       {.vector = 8}},
      {"outputs of which rows and columns are cut off",
       {{"x", bf16, "(149,77):(80,1)"},
        {"y", bf16, "(149,77):(80,1)"},
        {"z", bf16, "(149,77):(1,152)"}},
       "y = x * 2.0; z = x + 1.0",
       {.vector = 8}},
      {"both cut off, in place",
       {{"x", f32, "(61,83):(84,1)"}, {"y", f32, "(61,83):(1,64)", Access::inout}},
       "y = y + x",
       {.vector = 4}},
      {"sides that are no powers of two",
       {{"x", bf16, "(80,256):(1,80)"}, {"y", bf16, "(80,256):(256,1)"}},
       "y = x * 2.0",
       {.vector = 8, .tile = {{128, 80}}}},
      {"columns that are no power of two, of vectors",
       {{"x", f32, "(64,200):(1,64)"}, {"y", f32, "(64,200):(200,1)"}},
       "y = x * 2.0",
       {.vector = 4, .tile = {{40, 64}}}},
      {"columns that are no power of two, of elements",
       {{"x", f32, "(65,200):(1,65)"}, {"y", f32, "(65,200):(200,1)"}},
       "y = x * 2.0",
       {.vector = 1, .tile = {{24, 64}}}},
      {"a small tile",
       {{"x", f32, "(70,90):(1,70)"}, {"y", f32, "(70,90):(90,1)"}},
       "y = x",
       {.threads = 32, .tile = {{32, 16}}}},
  };
  EmulatedKernels kernels;
  for (const Case& c : cases) {
    const Fused op{.tensors = c.tensors, .formula = c.formula, .tuning = c.tuning};
    const plan::Plan plan =
        plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0, .feature = 'a'});
    EXPECT_TRUE(std::holds_alternative<plan::Tile>(plan.family)) << c.what;
    kernels.add(c.what, {.op = op, .symbols = {}, .scalars = {}});
  }
  ASSERT_TRUE(kernels.compile());
  Random random(15);
  kernels.verify_all(random);
}

/// Whose ends the kernel does not know: rows that are cut off come element by element.
TEST(EmulatedTiles, OfSymbolicExtentsAreCutOffAnywhere) {
  Fused op{.tensors = {{"x", f16, "(M,N):(1,M)"}, {"y", f16, "(M,N):(N,1)"}},
           .formula = "y = x * 2.0"};
  op.symbols = {{.name = "M", .divisible_by = 4}, {.name = "N", .divisible_by = 8}};
  EmulatedKernels kernels;
  for (const auto& [m, n] : {std::pair{68, 72}, {132, 64}, {4, 520}}) {
    kernels.add(std::to_string(m) + " by " + std::to_string(n),
                {.op = op, .symbols = {{"M", m}, {"N", n}}, .scalars = {}});
  }
  ASSERT_TRUE(kernels.compile());
  Random random(16);
  kernels.verify_all(random);
}

TEST(EmulatedTiles, TakeBlocksInOtherOrders) {
  struct Case {
    const char* what;
    std::vector<Tensor> tensors;
    const char* families;
    std::size_t first;
  };
  const Case cases[] = {
      {"tiles cut off on both sides",
       {{"x", f32, "(101,203):(1,101)"}, {"y", f32, "(101,203):(203,1)"}},
       "fused_tile ",
       1},
      {"tiles of an outer mode",
       {{"x", f32, "(3,101,203):(20503,1,101)"}, {"y", f32, "(3,101,203):(20503,203,1)"}},
       "fused_tile ",
       2},
      {"sheared tiles",
       {{"x", f16, "(170,49,241):(11809,1,49)"}, {"y", f16, "(170,49,241):(11809,241,1)"}},
       "fused_sheared ",
       2},
      {"boxes",
       {{"x", f32, "(39,5,379,2):(5,1,195,73905)"}, {"y", f32, "(39,5,379,2):(3790,758,2,1)"}},
       "fused_box ",
       2},
  };
  EmulatedKernels kernels;
  for (const Case& c : cases) {
    const Fused op{.tensors = c.tensors, .formula = "y = x"};
    EXPECT_EQ(EmulatedKernels::templates_of(op), c.families) << c.what;
    kernels.add_ordered(c.what, {.op = op, .symbols = {}, .scalars = {}}, c.first);
  }
  ASSERT_TRUE(kernels.compile());
  Random random(28);
  kernels.verify_all(random);
}

}  // namespace
}  // namespace tilejit::test
