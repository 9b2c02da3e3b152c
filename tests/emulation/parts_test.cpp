// Operations of several kernels, run on the CPU against the reference.

#include "emulation/emulated.hpp"
#include "plan/split.hpp"

namespace tilejit::test {
namespace {

struct PartsCase {
  const char* what;
  std::vector<Tensor> tensors;
  const char* formula;
  SymbolValues symbols = {};
  std::vector<Scalar> scalars = {};
};

constexpr const char* kMatrix = "(37,70):(70,1)";

std::vector<PartsCase> parts_cases() {
  return {
      {"a reduction of a reduction over another axis",
       {{"x", f32, kMatrix}, {"rows", f32, "37:1"}, {"total", f32, "1:0"}},
       "rows = max(x, axis=1); total = sum(rows, axis=0)"},
      {"results of rows that blocks combine, of which one is an output, too",
       {{"x", f16, "(611,111,3):(333,3,1)"},
        {"z", f16, "(611,111,3):(333,3,1)"},
        {"rows", f16, "(611,111):(111,1)"},
        {"total", f32, "1:0"}},
       "r = sqrt(sum((x - z) * (x - z), axis=2)); rows = r; total = mean(r, axis=(0, 1))"},
      {"the same by threads that have a row of four words",
       {{"x", f32, "(65537,4):(4,1)"}, {"total", f32, "1:0"}},
       "total = max(sum(abs(x), axis=1), axis=0)"},
      {"both axes, one after the other, and the full space",
       {{"x", f32, kMatrix}, {"y", f32, kMatrix}},
       "a = abs(x) + 1; r = a / sum(a, axis=1); y = r / sum(r, axis=0)"},
      {"in place",
       {{"x", f32, kMatrix, Access::inout}},
       "x = x - mean(x, axis=1) - mean(x, axis=0)"},
      {"three sets of axes of three",
       {{"x", bf16, "(5,12,20):(240,20,1)"},
        {"a", f32, "(5,12):(12,1)"},
        {"b", f32, "(12,20):(20,1)"},
        {"y", bf16, "(5,12,20):(240,20,1)"}},
       "a = sum(x, axis=2); b = max(x, axis=0); y = (x - mean(x, axis=(0, 2))) * a + b"},
      {"nested twice",
       {{"x", f32, "(5,12,20):(240,20,1)"}, {"y", f32, "(1,1,1):(1,1,1)"}},
       "y = max(sum(min(x, axis=2), axis=1), axis=0)"},
      {"an output of neither part's space",
       {{"x", f32, kMatrix}, {"y", f32, kMatrix}, {"w", f32, "(37,1):(1,1)"}},
       "r = sum(x, axis=1); c = sum(r * 2, axis=0); w = r - c; y = x * 0.5"},
      {"an input that waits for its readers",
       {{"x", f32, kMatrix, Access::inout}, {"y", f32, "70:1"}},
       "r = max(x, axis=1); x = x - r; y = sum(x * x, axis=0)"},
      {"scans along both axes",
       {{"x", i32, kMatrix}, {"y", i64, kMatrix}},
       "y = cumsum(cumsum(x, axis=1), axis=0)"},
      {"scans in both directions",
       {{"x", f32, kMatrix}, {"y", f32, kMatrix}},
       "y = cumsum(x) + cumsum(x, reverse=true)"},
      {"a reduction of a scan",
       {{"x", f32, kMatrix}, {"y", f32, kMatrix}, {"m", f32, "37:1"}},
       "c = cumsum(x); m = max(c); y = c / (abs(m) + 1)"},
      {"places and extents",
       {{"x", f32, kMatrix}, {"y", f32, "70:1"}, {"z", i64, "37:1"}},
       "z = argmax(x, axis=1) + extent(0); y = mean(x * f32(iota(1) + z), axis=0)"},
      {"symbols and scalars",
       {{"x", f32, "(M,N):(N,1)"}, {"y", f32, "(M,N):(N,1)"}, {"w", f32, "M:1"}},
       "w = sum(x * s, axis=1); y = x - mean(w, axis=0) + t",
       {{"M", 19}, {"N", 33}},
       {{"s", f32}, {"t", f64}}},
      {"broadcast inputs",
       {{"x", f32, kMatrix}, {"b", f32, "70:1"}, {"y", f32, "70:1"}},
       "r = sum(b, axis=1); y = max(x * b - r, axis=0)"},
      {"totals of blocks, reduced over what their rows were reduced over, too",
       {{"x", f32, "(70001,12):(12,1)"}, {"y", f32, "1:0"}},
       "y = mean(sum(abs(x), axis=1), axis=(0, 1))"},
      {"outputs of rows that lie across their part's rows",
       {{"x", f32, "(8,8):(1,8)"}, {"z", f32, "(8,8):(16,1)"}, {"w", f32, "8:1"}},
       "m = min(x, axis=1); w = sum(f32(iota(0)), axis=0); z = x + m"},
      {"columns of a part whose input lies along them",
       {{"x", f16, "(40,13,257):(1,10280,40)"},
        {"y", f32, "(40,13,257):(3341,257,1)"},
        {"w", f32, "(1,1,257):(0,0,1)"}},
       "y = x - max(x, axis=0); w = max(x, axis=(0, 1))"},
      {"long rows, shared by blocks, then columns",
       {{"x", f32, "(3,60001):(60001,1)"}, {"m", f32, "3:1"}, {"y", f32, "1:0"}},
       "m = sum(x, axis=1); y = max(m, axis=0)"},
      // A value reduced over one axis beside one reduced over another: none of these was planned.
      {"a value that varies along neither axis of what it meets",
       {{"x", f32, "(4,5):(5,1)"}, {"b", f32, "(4,1):(1,1)"}, {"y", f32, "(4,5):(5,1)"}},
       "p = max(b, axis=0); s = sum(x, axis=1); y = x * sum(p * s, axis=0)"},
      {"a scan of a constant beside a sum over the other axis",
       {{"x", i64, "(4,6):(6,1)"}, {"y", i64, "(4,6):(6,1)"}},
       "y = cumsum(cumsum(i64(1), axis=0) + sum(x, axis=1), axis=0)"},
      {"the same of symbols, stored by a kernel of its own",
       {{"x", f32, "(M,N):(N,1)"}, {"b", f32, "(M,1):(1,1)"}, {"w", f32, "M:1"}},
       "p = sum(b, axis=0); w = cumsum(p + sum(x, axis=1), axis=0) - max(b, axis=0)",
       {{"M", 19}, {"N", 33}}},
      {"a value of no rows beside one of some",
       {{"x", f32, "(4,0):(0,1)"}, {"b", f32, "(4,1):(1,1)"}, {"w", f32, "1:0"}},
       "p = max(b, axis=0); w = sum(p + sum(x, axis=1), axis=0)"},
      // Results in another order than what is reduced.
      {"crossed results of three elements, as slices with gaps",
       {{"x", f32, "(77,2301,3):(2,154,354354)"},
        {"b", f32, "(2301,1):(1,1)"},
        {"y", f32, "(77,2301):(2301,1)"}},
       "y = abs(mean(x + b, axis=2))"},
      {"the same of pairs that are neighbours, with kept axes of one element",
       {{"x", f16, "(300,1,500,2):(2,1,600,1)"}, {"y", f16, "(300,1,500,1):(500,500,1,1)"}},
       "m = max(x, axis=3); y = m + log(sum(exp(x - m), axis=3))"},
      {"crossed results that are copied, beside others that are not",
       {{"x", u8, "(9,512,1100):(1,9,4608)"},
        {"y", i64, "(512,1100):(1100,1)"},
        {"z", u8, "(1,512,1100):(1,1,512)"}},
       "y = argmax(x, axis=0); z = max(x, axis=0)"},
      // Short rows whose outputs lie in another order, as slices of inputs and outputs.
      {"crossed outputs of pairs, of odd modes",
       {{"x", f16, "(300,2,401):(1,300,600)"}, {"y", f16, "(300,2,401):(802,401,1)"}},
       "e = exp(x - max(x, axis=1)); y = e / sum(e, axis=1)"},
      {"crossed outputs beside results, of a mask and a row in the output's order",
       {{"x", f32, "(3,130,5,260):(1,3900,780,3)"},
        {"m", b8, "(3,130,5,260):(169000,1300,260,1)"},
        {"b", f32, "(5,1):(1,1)"},
        {"y", f32, "(3,130,5,260):(169000,1300,260,1)"},
        {"z", f32, "(3,130,260):(33800,260,1)"}},
       "v = where(m, x, -30) + b; z = max(v, axis=2); y = v - z - log(sum(exp(v - z), axis=2))"},
      {"a cast of a reduction, which a part rounds and another one reads",
       {{"x", bf16, "(37,70):(70,1)"}, {"y", f32, "(37,70):(70,1)"}},
       "r = argmax(x, axis=1); y = x + bf16(sum(r * r, axis=0))"},
      {"nothing to combine",
       {{"x", f32, "(0,70):(70,1)"}, {"c", f32, "70:1"}, {"y", f32, "1:0"}},
       "c = sum(x, axis=0); y = sum(c + 1, axis=1)"},
  };
}

TEST(EmulatedParts, AgreeWithTheReference) {
  EmulatedKernels kernels;
  for (const PartsCase& c : parts_cases()) {
    RandomCase one{.op = {.tensors = c.tensors, .scalars = c.scalars, .formula = c.formula},
                   .symbols = c.symbols,
                   .scalars = std::vector<Number>(c.scalars.size(), 0.75)};
    kernels.add(c.what, std::move(one));
  }
  ASSERT_TRUE(kernels.compile());
  Random random(13);
  kernels.verify_all(random);
}

TEST(EmulatedParts, RandomOnesAgreeWithTheReference) {
  const int count = random_cases(6);
  EmulatedKernels kernels;
  Random random(20261125);
  for (int n = 0; n < count;) {
    RandomCase c = random_case(random);
    const formula::Analysis analysis = formula::analyze(c.op);
    if (plan::is_one_kernel(analysis.program) || !EmulatedKernels::can_run(c.op)) continue;
    kernels.add("case " + std::to_string(n++), std::move(c));
  }
  ASSERT_TRUE(kernels.compile());
  kernels.verify_all(random);
}

}  // namespace
}  // namespace tilejit::test
