// The kernels of short rows that blocks copy to shared memory, run on the CPU against the
// reference. Rows are a symbol's, so that few of them are staged, too.
#include <algorithm>
#include <array>
#include <string>

#include "emulation/emulated.hpp"
#include "staged/runs.hpp"

namespace tilejit::test {
namespace {

struct StagedCase {
  const char* what;
  std::vector<Tensor> tensors;
  const char* formula;
  std::int64_t rows = 1000;
  std::vector<int> axis = {1};
  Tuning tuning = {};
};

void add_staged(EmulatedKernels& kernels, const std::string& what, Fused op, std::int64_t rows) {
  const plan::Plan plan =
      plan::make_plan(op, formula::analyze(op), {.major = 9, .minor = 0, .feature = 'a'});
  ASSERT_EQ(plan::template_name(plan), "fused_staged") << what;
  const bool gathers = std::ranges::any_of(plan.operands, [&](const plan::Operand& operand) {
    return plan::is_gathered(plan, std::get<plan::StagedRows>(plan.family), operand);
  });
  EXPECT_EQ(gathers, what.find("lanes copy") != std::string::npos) << what;
  kernels.add(what, {.op = std::move(op), .symbols = {{"n", rows}}, .scalars = {}});
}

TEST(EmulatedStaged, AgreeWithTheReference) {
  const StagedCase cases[] = {
      {"a row a thread, another dtype, an end of few rows",
       {{"x", bf16, "(n,9):(9,1)"}, {"y", f32, "(n,9):(9,1)"}},
       "e = exp(x - max(x)); y = e / sum(e)"},
      {"a single row",
       {{"x", f32, "(n,3):(3,1)"}, {"y", f32, "(n,3):(3,1)"}},
       "y = x - mean(x)",
       1},
      {"whole blocks, in place, weights",
       {{"x", f32, "(n,7):(7,1)", Access::inout}, {"g", f32, "7:1"}},
       "x = x * rsqrt(mean(x * x) + 1e-5) * g",
       1024},
      {"threads share rows, bytes",
       {{"x", u8, "(n,63):(63,1)"}, {"y", i32, "(n,1):(1,1)"}, {"z", u8, "(n,63):(63,1)"}},
       "m = max(x); y = sum(i32(x)); z = m - x",
       333},
      {"vectors of two, an input and an output of an element a row",
       {{"x", bf16, "(n,10):(10,1)"},
        {"b", f32, "(n,1):(1,1)"},
        {"y", bf16, "(n,10):(10,1)"},
        {"s", f32, "(n,1):(1,1)"}},
       "v = x + b; s = sum(v); y = v / (abs(s) + 1)"},
      {"two inputs and two outputs, each in the place of an input",
       {{"x", f32, "(n,5):(5,1)"},
        {"w", f32, "(n,5):(5,1)"},
        {"y", f32, "(n,5):(5,1)"},
        {"z", f32, "(n,5):(5,1)"}},
       "v = x + w; y = v - mean(v); z = v"},
      {"an input with padding, accessed where it is",
       {{"x", f32, "(n,5):(5,1)"}, {"w", f32, "(n,5):(8,1)"}, {"y", f32, "(n,5):(5,1)"}},
       "y = x - max(w)"},
      {"an input with padding that lanes copy",
       {{"x", bf16, "(n,21):(45,1)"}, {"w", bf16, "21:1"}, {"y", bf16, "(n,21):(21,1)"}},
       "d = x - mean(x); y = d * w",
       333},
      {"padding that lanes copy by vectors of two, rows shared by threads, beside a run",
       {{"x", f32, "(n,22):(34,1)"}, {"v", f32, "(n,22):(22,1)"}, {"y", f32, "(n,22):(22,1)"}},
       "s = x + v; y = s - max(s)",
       133,
       {1},
       {.row_threads = 2}},
      {"an input with gaps that lanes copy, rows of two modes, another dtype",
       {{"x", bf16, "((3,n),9):((40,130),2)"}, {"y", f32, "((3,n),9):((9,27),1)"}},
       "e = exp(x - max(x)); y = e / sum(e)",
       200},
      {"scanned, with padding that lanes copy",
       {{"x", f32, "(n,41):(64,1)"}, {"y", f32, "(n,41):(41,1)"}},
       "y = cumsum(x)",
       77},
      {"places", {{"x", bf16, "(n,21):(21,1)"}, {"y", i64, "(n,1):(1,1)"}}, "y = argmax(x)"},
      {"rows of two modes, a bias of one",
       {{"x", bf16, "((3,n),9):((9,27),1)"},
        {"b", bf16, "((3,n),1):((1,0),1)"},
        {"y", bf16, "((3,n),9):((9,27),1)"}},
       "v = x + b; y = v - max(v)",
       200},
      {"scanned", {{"x", bf16, "(n,4):(4,1)"}, {"y", bf16, "(n,4):(4,1)"}}, "y = cumsum(x)"},
      {"scanned backwards, in place",
       {{"x", f32, "(n,9):(9,1)", Access::inout}},
       "x = cumsum(x, reverse=true)"},
      {"scanned, with the total and a reduction before",
       {{"x", f32, "(n,6):(6,1)"}, {"y", f32, "(n,6):(6,1)"}, {"s", f32, "(n,1):(1,1)"}},
       "d = x - max(x); y = cumsum(d); s = sum(d)"},
      {"scanned, divided by the total",
       {{"x", f32, "(n,5):(5,1)"}, {"y", f32, "(n,5):(5,1)"}},
       "v = abs(x) + 1; y = cumsum(v) / sum(v)"},
      {"scanned by several threads a row, of which the last has less",
       {{"x", f32, "(n,41):(41,1)"}, {"y", f32, "(n,41):(41,1)"}},
       "y = cumsum(x)"},
      {"scanned by several threads a row, backwards, exclusive, in place",
       {{"x", bf16, "(n,127):(127,1)", Access::inout}},
       "x = cumsum(x, reverse=true, exclusive=true)",
       77},
      {"scanned by several threads a row, vectors of two, with the total and a reduction before",
       {{"x", f32, "(n,70):(70,1)"},
        {"w", f32, "(n,70):(72,1)"},
        {"y", f32, "(n,70):(70,1)"},
        {"z", f32, "(n,70):(72,1)"},
        {"s", f32, "(n,1):(1,1)"}},
       "d = x - max(w); y = cumsum(d) / (abs(sum(d)) + 1); z = cummax(d); s = sum(d)",
       133},
      {"doubles, shared by threads",
       {{"x", f64, "(n,31):(31,1)"}, {"y", f64, "(n,31):(31,1)"}},
       "y = x - mean(x)",
       77,
       {1},
       {.row_threads = 8}},
  };
  EmulatedKernels kernels;
  for (const StagedCase& c : cases) {
    add_staged(kernels, c.what,
               {.tensors = c.tensors, .formula = c.formula, .axis = c.axis, .tuning = c.tuning},
               c.rows);
  }
  ASSERT_TRUE(kernels.compile());
  Random random(13);
  kernels.verify_all(random);
}

/// Random lengths, dtypes and numbers of rows.
TEST(EmulatedStaged, OfRandomLengthsAgreeWithTheReference) {
  const std::array formulas = {"y = x - max(x)", "y = x * rsqrt(mean(x * x) + 0.01)",
                               "e = exp(x - max(x)); y = e / sum(e)",
                               "d = x - mean(x); y = d * rsqrt(mean(d * d) + 0.01)"};
  const std::array dtypes = {f32, bf16};
  Random random(14);
  EmulatedKernels kernels;
  for (int i = 0; i < random_cases(12); ++i) {
    const DType in = dtypes[random() % 2], out = dtypes[random() % 2];
    const int most = 256 / std::max(size_bytes(in), size_bytes(out));
    const int half = static_cast<int>(random() % static_cast<unsigned>((most - 1) / 2));
    const std::string length = std::to_string(2 * half + 3 > most ? 3 : 2 * half + 3);
    const std::string layout = "(n," + length + "):(" + length + ",1)";
    const auto rows = static_cast<std::int64_t>(1 + random() % 700);
    const char* formula = formulas[random() % formulas.size()];
    add_staged(
        kernels, layout + " " + formula,
        {.tensors = {{"x", in, layout}, {"y", out, layout}}, .formula = formula, .axis = {1}},
        rows);
  }
  ASSERT_TRUE(kernels.compile());
  kernels.verify_all(random);
}

}  // namespace
}  // namespace tilejit::test
