// The kernels of scans, run on the CPU: every way in which lanes, warps, chunks and blocks share
// rows, against the reference.

#include "emulation/emulated.hpp"

namespace tilejit::test {
namespace {

struct ScanCase {
  const char* what;
  std::vector<Tensor> tensors;
  const char* formula;
  SymbolValues symbols = {};
  Tuning tuning = {};
};

std::vector<ScanCase> scan_cases() {
  return {
      {"a row a thread, in place", {{"x", f32, "(70,3):(3,1)", Access::inout}}, "x = cumsum(x)"},
      {"rows within warps, with a wider reduction",
       {{"x", f32, "(500,70):(70,1)"}, {"y", f32, "(500,70):(70,1)"}, {"w", i64, "500:1"}},
       "w = argmax(x); y = cumsum(x) * sum(x - max(x))"},
      {"rows within warps, backwards, ragged",
       {{"x", i16, "(37,101):(101,1)"}, {"y", i64, "(37,101):(101,1)"}},
       "y = cumsum(x, reverse=true)"},
      {"so many rows that lanes should not be idle",
       {{"x", bf16, "(21000,100):(104,1)"}, {"y", f32, "(21000,100):(104,1)"}},
       "y = cumsum(x)"},
      {"the same, staged in vectors of 16 bytes",
       {{"x", f32, "(44000,48):(48,1)"}, {"y", f32, "(44000,48):(48,1)"}},
       "y = cumsum(x)"},
      {"a warp a row, exclusive",
       {{"x", bf16, "(5,1024):(1024,1)"}, {"y", bf16, "(5,1024):(1024,1)"}},
       "y = cumsum(x, exclusive=true)"},
      {"a block holds a row, with reductions",
       {{"x", bf16, "(3,4096):(4096,1)"}, {"y", f32, "(3,4096):(4096,1)"}, {"w", f32, "3:1"}},
       "e = exp(x - max(x)); w = sum(e); y = cumsum(e * (1 / sum(e)))"},
      {"chunks, backwards and exclusive, with a reduction",
       {{"x", f32, "(2,9001):(9001,1)"}, {"y", f32, "(2,9001):(9001,1)"}},
       "y = cumsum(x, reverse=true, exclusive=true) - max(x)",
       {},
       {.threads = 512}},
      {"peeled rows, exclusive",
       {{"x", bf16, "(4,1003):(1003,1)"}, {"y", bf16, "(4,1003):(1003,1)"}},
       "y = cumsum(x, exclusive=true)",
       {},
       {.vector = 8}},
      {"peeled rows, backwards, in place",
       {{"x", f32, "(3,7001):(7001,1)", Access::inout}},
       "x = cumsum(x, reverse=true)",
       {},
       {.vector = 4}},
      {"columns that are shifted",
       {{"x", f32, "(90,101):(101,1)"}, {"y", f32, "(90,101):(101,1)"}},
       "y = cumsum(x, axis=0)"},
      {"columns of roots, which are held in the place of what is shifted",
       {{"x", bf16, "(300,101):(101,1)"}, {"y", f32, "(300,101):(101,1)"}},
       "y = cumsum(sqrt(abs(x) + 0.5), axis=0, exclusive=true)",
       {},
       {.vector = 4}},
      {"columns of roots, which need the inputs once more",
       {{"x", bf16, "(300,101):(101,1)"}, {"y", f32, "(300,101):(101,1)"}},
       "y = cumsum(sqrt(abs(x) + 0.5), axis=0, exclusive=true) + x",
       {},
       {.vector = 4}},
      {"peeled rows of shorter vectors",
       {{"x", f16, "(9,259):(259,1)"}, {"y", f16, "(9,259):(259,1)"}},
       "y = cumsum(x * sigmoid(x))",
       {},
       {.vector = 4}},
      {"chunks of an unknown number, in place",
       {{"x", i32, "(M,N):(N,1)", Access::inout}},
       "x = cumsum(x) + iota(1)",
       {{"M", 2}, {"N", 66003}}},
      {"a large block holds a row",
       {{"x", f32, "9122:1"}, {"y", f32, "9122:1"}},
       "y = cumsum(x * 0.5, exclusive=true)"},
      {"blocks share a row, backwards",
       {{"x", f32, "70001:1"}, {"y", f32, "70001:1"}},
       "y = cumsum(x * 0.5, reverse=true)"},
      {"blocks share rows of doubles",
       {{"x", f64, "(2,40000):(40000,1)"}, {"y", f64, "(2,40000):(40000,1)"}},
       "y = cumsum(x) + cummax(abs(x), exclusive=true)"},
      {"columns",
       {{"x", f32, "(300,72):(72,1)"}, {"y", f32, "(300,72):(72,1)"}},
       "y = cumsum(x, axis=0)",
       {},
       {.vector = 4}},
      {"few columns in whole chunks",
       {{"x", bf16, "(512,40):(40,1)"}, {"y", f32, "(512,40):(40,1)"}},
       "y = cumsum(x, axis=0, reverse=true)"},
      {"totals of scans",
       {{"x", f32, "(3,1000):(1000,1)"}, {"y", f32, "(3,1000):(1000,1)"}, {"w", f32, "3:1"}},
       "m = max(x); s = sum(x - m); y = cummax(x) + cumsum(x - m, exclusive=true) * s; w = s"},
      {"totals of columns",
       {{"x", i32, "(5,700):(700,1)"}, {"y", i64, "(5,700):(700,1)"}},
       "y = cumsum(x, axis=0, reverse=true) - 2 * sum(x, axis=0)"},
      {"columns in large blocks",
       {{"x", f32, "(600,1430):(1430,1)"}, {"y", f32, "(600,1430):(1430,1)"}},
       "y = cumsum(x, axis=0)"},
      {"short columns",
       {{"x", u8, "(3,517):(517,1)"}, {"y", u8, "(3,517):(517,1)"}},
       "y = cumsum(x, axis=0, exclusive=true)"},
      {"short columns that are shifted by pairs",
       {{"x", f32, "(3,12,101):(1212,101,1)"}, {"y", f32, "(3,12,101):(1212,101,1)"}},
       "y = cumsum(x, axis=1, reverse=true)",
       {},
       {.vector = 2}},
      {"ragged columns, backwards, with a reduction",
       {{"x", bf16, "(131,45):(45,1)"}, {"y", f32, "(131,45):(45,1)"}},
       "y = cumsum(x, axis=0, reverse=true) / (sum(abs(x), axis=0) + 1)"},
      {"blocks share columns",
       {{"x", f32, "(8001,24):(24,1)"}, {"y", f32, "(8001,24):(24,1)"}},
       "y = cumsum(x, axis=0)"},
      {"blocks share two columns",
       {{"x", bf16, "(4001,2):(2,1)"}, {"y", f32, "(4001,2):(2,1)"}},
       "y = cumsum(x, axis=0, exclusive=true)"},
      {"threads take turns down narrow columns, exclusive",
       {{"x", f32, "(3,1500,3):(4500,3,1)"}, {"y", f32, "(3,1500,3):(4500,3,1)"}},
       "y = cumsum(x, axis=1, exclusive=true)"},
      {"the same, two elements each, backwards, with a reduction",
       {{"x", f32, "(2,2100,4):(8400,4,1)"},
        {"y", f32, "(2,2100,4):(8400,4,1)"},
        {"w", f32, "(2,1,4):(4,0,1)"}},
       "w = sum(x, axis=1); y = cumsum(x * 0.5, axis=1, reverse=true) / (abs(w) + 1)",
       {},
       {.vector = 2}},
      {"the same, held, of rows with gaps",
       {{"x", f16, "(5,200,3):(1000,5,1)"}, {"y", f16, "(5,200,3):(1000,5,1)"}},
       "y = cummax(x, axis=1)"},
      {"the same, of rows that blocks share",
       {{"x", bf16, "(70001,7):(7,1)"}, {"y", bf16, "(70001,7):(7,1)"}},
       "y = cummax(abs(x), axis=0, reverse=true)"},
      {"columns of an unknown number, two scans",
       {{"x", i8, "(M,N):(N,1)"}, {"y", i64, "(M,N):(N,1)"}, {"z", i8, "(M,N):(N,1)"}},
       "y = cumsum(x, axis=0); z = cummin(x, axis=0, exclusive=true)",
       {{"M", 77}, {"N", 50}}},
      {"the middle of three axes, repeated inputs",
       {{"x", f32, "(4,33,20):(660,20,1)"},
        {"b", f32, "(33,1):(1,1)"},
        {"y", f32, "(4,33,20):(660,20,1)"}},
       "y = cumprod(1 + 0.01 * x * b, axis=1)"},
      {"nested modes in the order of their coordinates",
       {{"x", f32, "((4,30),8):((240,8),1)"}, {"y", f32, "((4,30),8):((8,32),1)"}},
       "y = cumsum(x, axis=0)"},
      {"nested modes along a row",
       {{"x", i32, "(3,(8,50)):(400,(50,1))"}, {"y", i64, "(3,(8,50)):(400,(1,8))"}},
       "y = cumsum(x)"},
      {"strided rows",
       {{"x", f32, "(9,700):(1,9)"}, {"y", f32, "(9,700):(1400,2)"}},
       "y = cummax(x)"},
      {"heavy values of odd rows",
       {{"x", f32, "(9,151):(151,1)"}, {"y", f32, "(9,151):(151,1)"}},
       "y = cumsum(log(1 + exp(x)))"},
      {"heavy values, backwards",
       {{"x", bf16, "(5,1503):(1503,1)"}, {"y", f32, "(5,1503):(1503,1)"}},
       "y = cumsum(log(1 + exp(x)), reverse=true)"},
      {"heavy values of long rows and of their sums",
       {{"x", f32, "(2,5003):(5003,1)"}, {"y", f32, "(2,5003):(5003,1)"}},
       "v = log(1 + exp(x)); y = cumsum(v) / sum(v)"},
      {"heavy values of columns",
       {{"x", f32, "(131,45):(45,1)"}, {"y", f32, "(131,45):(45,1)"}},
       "y = cumsum(log(1 + exp(x)), axis=0, reverse=true)"},
      {"heavy values that blocks share",
       {{"x", f32, "(8001,24):(24,1)"}, {"y", f32, "(8001,24):(24,1)"}},
       "y = cumsum(log(1 + exp(x)), axis=0)"},
      {"odd columns, each a thread's",
       {{"x", bf16, "(19,333):(333,1)"}, {"y", bf16, "(19,333):(333,1)"}},
       "y = cumsum(x * 0.5, axis=0, exclusive=true)"},
      {"columns, each a thread's, with their sums, backwards",
       {{"x", f32, "(2,30,70):(2100,70,1)"},
        {"y", f32, "(2,30,70):(2100,70,1)"},
        {"w", f32, "(2,1,70):(70,0,1)"}},
       "w = sum(x, axis=1); y = cumsum(x, axis=1, reverse=true) / (abs(w) + 1)"},
      {"a block has the columns of one vector, with their maxima",
       {{"x", f32, "(3,N,4):(4*N,4,1)"}, {"y", f32, "(3,N,4):(4*N,4,1)"}},
       "y = cumsum(x, axis=1) - max(x, axis=1)",
       {{"N", 1100}}},
      {"nothing", {{"x", f32, "(0,5):(5,1)"}, {"y", f32, "(0,5):(5,1)"}}, "y = cumsum(x)"},
      {"rows of nothing",
       {{"x", f32, "(M,N):(N,1)"}, {"y", f32, "(M,N):(N,1)"}, {"w", f32, "M:1"}},
       "y = cumsum(x); w = sum(x)",
       {{"M", 3}, {"N", 0}}},
  };
}

TEST(EmulatedScan, AgreesWithTheReference) {
  EmulatedKernels kernels;
  for (const ScanCase& c : scan_cases()) {
    RandomCase random_case{.op = {.tensors = c.tensors, .formula = c.formula, .tuning = c.tuning},
                           .symbols = c.symbols,
                           .scalars = {}};
    kernels.add(c.what, std::move(random_case));
  }
  ASSERT_TRUE(kernels.compile());
  Random random(7);
  kernels.verify_all(random);
}

TEST(EmulatedScan, RandomOnesAgreeWithTheReference) {
  const int count = random_cases(4);
  EmulatedKernels kernels;
  Random random(20261122);
  for (int n = 0; n < count;) {
    RandomCase c = random_case(random);
    if (c.op.formula.find("cum") == std::string::npos || !EmulatedKernels::can_run(c.op)) continue;
    kernels.add("case " + std::to_string(n++), std::move(c));
  }
  ASSERT_TRUE(kernels.compile());
  kernels.verify_all(random);
}

}  // namespace
}  // namespace tilejit::test
