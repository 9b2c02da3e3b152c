// Columns that blocks copy to shared memory as slabs, run on the CPU against the reference. Slabs
// are a symbol's, so that few of them are staged, too.
#include <array>
#include <string>

#include "emulation/emulated.hpp"

namespace tilejit::test {
namespace {

struct SlabCase {
  const char* what;
  std::vector<Tensor> tensors;
  const char* formula;
  std::int64_t slabs = 1000;
  std::vector<int> axis = {1};
};

void add_slabs(EmulatedKernels& kernels, const std::string& what, Fused op, std::int64_t slabs) {
  const plan::Plan plan =
      plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0, .feature = 'a'});
  EXPECT_EQ(plan::template_name(plan), "fused_staged") << what;
  kernels.add(what, {.op = std::move(op), .symbols = {{"n", slabs}}, .scalars = {}});
}

TEST(EmulatedSlabs, AgreeWithTheReference) {
  const SlabCase cases[] = {
      {"runs that begin within 16 bytes, threads that share rows",
       {{"x", bf16, "(n,41,3):(123,3,1)"}, {"y", bf16, "(n,41,3):(123,3,1)"}},
       "d = x - mean(x); y = d * rsqrt(mean(d * d) + 1e-5)"},
      {"another dtype, whose runs begin elsewhere",
       {{"x", bf16, "(n,3,7):(21,7,1)"}, {"y", f32, "(n,3,7):(21,7,1)"}},
       "e = exp(x - max(x)); y = e / sum(e)"},
      {"a single slab, of fewer rows than threads",
       {{"x", f32, "(n,5,3):(15,3,1)"}, {"y", f32, "(n,5,3):(15,3,1)"}},
       "y = x - mean(x)",
       1},
      {"slabs of whole chunks, with chunks left free",
       {{"x", f32, "(n,32,3):(96,3,1)"}, {"y", f32, "(n,32,3):(96,3,1)"}},
       "y = x - max(x)"},
      {"one result a row, in order of memory",
       {{"x", f16, "(n,35,7):(245,7,1)"}, {"y", f16, "(n,1,7):(7,1,1)"}},
       "y = min(x)"},
      {"places", {{"x", bf16, "(n,9,5):(45,5,1)"}, {"y", i64, "(n,1,5):(5,1,1)"}}, "y = argmax(x)"},
      {"places that a warp finds",
       {{"x", f32, "(n,321,3):(963,3,1)"}, {"y", i64, "(n,1,3):(3,1,1)"}},
       "y = argmin(x)",
       70},
      {"in place, weights of columns and of elements, an element a row",
       {{"x", f32, "(n,6,5):(30,5,1)", Access::inout},
        {"g", f32, "5:1"},
        {"w", f32, "(6,1):(1,1)"},
        {"b", f32, "(n,1,5):(5,1,1)"}},
       "v = x + b * w; x = v * rsqrt(mean(v * v) + 1e-5) * g"},
      {"an element a slab, accessed where it is",
       {{"x", f16, "(n,4,3):(12,3,1)"},
        {"b", f16, "(n,1,1):(1,1,1)"},
        {"y", f16, "(n,4,3):(12,3,1)"}},
       "v = x * b; y = v - max(v)"},
      {"bytes, and two outputs",
       {{"x", u8, "(n,63,3):(189,3,1)"},
        {"y", i32, "(n,1,3):(3,1,1)"},
        {"z", u8, "(n,63,3):(189,3,1)"}},
       "m = max(x); y = sum(i32(x)); z = m - x",
       333},
      {"scanned",
       {{"x", bf16, "(n,4,3):(12,3,1)"}, {"y", bf16, "(n,4,3):(12,3,1)"}},
       "y = cumsum(x)"},
      {"scanned backwards, in place",
       {{"x", f32, "(n,9,2):(18,2,1)", Access::inout}},
       "x = cumsum(x, reverse=true)"},
      {"scanned in chunks, the last one shorter",
       {{"x", f16, "(n,260,33):(8580,33,1)"}, {"y", f16, "(n,260,33):(8580,33,1)"}},
       "y = cumsum(x)",
       70},
      {"scanned in chunks backwards, to another dtype, with places and weights",
       {{"x", bf16, "(n,300,15):(4500,15,1)"},
        {"w", f32, "(300,1):(1,1)"},
        {"b", f32, "(n,1,15):(15,1,1)"},
        {"y", f32, "(n,300,15):(4500,15,1)"}},
       "y = cumsum(x * w + iota(1), reverse=true) + b",
       90},
      {"scanned in so many chunks that their totals are added in parts, in place",
       {{"x", f32, "(n,4200,5):(21000,5,1)", Access::inout}},
       "x = cumsum(x)",
       256},
      {"scanned by threads that share rows, the last ones without elements",
       {{"x", f32, "(n,190,9):(1710,9,1)"}, {"y", f32, "(n,190,9):(1710,9,1)"}},
       "y = cumsum(x)",
       3},
      {"the same backwards, of two columns, to another dtype",
       {{"x", bf16, "(n,1001,2):(2002,2,1)"}, {"y", f32, "(n,1001,2):(2002,2,1)"}},
       "y = cumsum(x * 0.5, reverse=true)",
       11},
      {"the same in place, with what is combined before and after",
       {{"x", f32, "(n,130,3):(390,3,1)", Access::inout},
        {"w", f32, "(130,1):(1,1)"},
        {"b", f32, "(n,1,3):(3,1,1)"}},
       "v = max(x); c = cummax(x * w - v); x = c + b",
       77},
      {"scanned in strips, the last one narrower and the last chunk shorter",
       {{"x", f16, "(n,77,1501):(115577,1501,1)"}, {"y", f16, "(n,77,1501):(115577,1501,1)"}},
       "y = cumsum(x)",
       2},
      {"scanned in strips backwards, to another dtype",
       {{"x", bf16, "(n,73,1027):(74971,1027,1)"}, {"y", f32, "(n,73,1027):(74971,1027,1)"}},
       "y = cumsum(x, reverse=true)",
       2},
      {"scanned in strips, in place",
       {{"x", f32, "(n,67,1030):(69010,1030,1)", Access::inout}},
       "x = cumsum(x * x)",
       3},
      {"scanned in strips, with weights of elements and of columns",
       {{"x", f16, "(n,77,1501):(115577,1501,1)"},
        {"w", f32, "(77,1):(1,1)"},
        {"b", f16, "(n,1,1501):(1501,1,1)"},
        {"y", f32, "(n,77,1501):(115577,1501,1)"}},
       "y = cumsum(x * w + b)",
       2},
      {"columns of two modes",
       {{"x", bf16, "(n,7,3,5):(105,15,5,1)"},
        {"w", bf16, "(3,1):(1,1)"},
        {"y", bf16, "(n,7,3,5):(105,15,5,1)"}},
       "v = x * w; y = v - mean(v)"},
      {"large slabs, one a block, of more columns than threads",
       {{"x", f16, "(n,2,2047):(4094,2047,1)"}, {"y", f16, "(n,2,2047):(4094,2047,1)"}},
       "e = exp(x - max(x)); y = e / sum(e)",
       5},
      {"large slabs of long rows",
       {{"x", bf16, "(n,197,49):(9653,49,1)"}, {"y", bf16, "(n,197,49):(9653,49,1)"}},
       "e = exp(x - max(x)); y = e / sum(e)",
       3},
      {"more shared memory than kernels declare",
       {{"x", f32, "(n,1920,10):(19200,10,1)"}, {"y", f32, "(n,1920,10):(19200,10,1)"}},
       "y = x - max(x)",
       2},
  };
  EmulatedKernels kernels;
  for (const SlabCase& c : cases) {
    add_slabs(kernels, c.what, {.tensors = c.tensors, .formula = c.formula, .axis = c.axis},
              c.slabs);
  }
  ASSERT_TRUE(kernels.compile());
  Random random(15);
  kernels.verify_all(random);
}

/// Random lengths, columns, dtypes and numbers of slabs.
TEST(EmulatedSlabs, OfRandomExtentsAgreeWithTheReference) {
  const std::array formulas = {"y = x - max(x)", "y = x * rsqrt(mean(x * x) + 0.01)",
                               "e = exp(x - max(x)); y = e / sum(e)",
                               "d = x - mean(x); y = d * rsqrt(mean(d * d) + 0.01)"};
  const std::array dtypes = {f32, bf16, f16};
  Random random(16);
  EmulatedKernels kernels;
  for (int i = 0; i < random_cases(12); ++i) {
    const DType in = dtypes[random() % 3], out = dtypes[random() % 3];
    const int columns = 3 + 2 * static_cast<int>(random() % 8);
    const int length = 2 + static_cast<int>(random() % 120);
    const std::string layout = "(n," + std::to_string(length) + "," + std::to_string(columns) +
                               "):(" + std::to_string(length * columns) + "," +
                               std::to_string(columns) + ",1)";
    const auto slabs = static_cast<std::int64_t>(1 + random() % 100);
    const char* formula = formulas[random() % formulas.size()];
    add_slabs(kernels, layout + " " + formula,
              {.tensors = {{"x", in, layout}, {"y", out, layout}}, .formula = formula, .axis = {1}},
              slabs);
  }
  ASSERT_TRUE(kernels.compile());
  kernels.verify_all(random);
}

}  // namespace
}  // namespace tilejit::test
