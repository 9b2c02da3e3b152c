// The kernels of reductions without clusters, run on the CPU against the reference.
#include "emulation/emulated.hpp"

namespace tilejit::test {
namespace {

struct RowsCase {
  const char* what;
  std::vector<Tensor> tensors;
  const char* formula;
  std::vector<int> axis = {1};
  Tuning tuning = {};
};

TEST(EmulatedRows, AgreeWithTheReference) {
  const RowsCase cases[] = {
      {"a row a thread, in place", {{"x", f32, "(70,3):(3,1)", Access::inout}}, "x = x / sum(x)"},
      {"held by a warp",
       {{"x", bf16, "(9,250):(250,1)"}, {"y", bf16, "(9,250):(250,1)"}},
       "e = exp(x - max(x)); y = e / sum(e)"},
      {"peeled rows of bytes",
       {{"x", u8, "(5,1003):(1003,1)"}, {"y", i32, "(5,1):(1,1)"}},
       "y = sum(i32(x))",
       {1},
       {.vector = 16}},
      {"peeled rows with weights that are shifted, in place",
       {{"x", bf16, "(7,333):(333,1)", Access::inout}, {"g", bf16, "333:1"}},
       "x = x * rsqrt(mean(x * x) + 1e-5) * g",
       {1},
       {.vector = 8}},
      {"peeled rows with padding, one row's place among them",
       {{"x", bf16, "(6,301):(307,1)"}, {"y", bf16, "(6,301):(310,1)"}, {"i", i64, "6:1"}},
       "y = x - max(x); i = argmax(x)",
       {1},
       {.vector = 8}},
      {"variances of rows that blocks share",
       {{"x", bf16, "(2,30001):(30001,1)"},
        {"m", f32, "2:1"},
        {"v", f32, "2:1"},
        {"w", bf16, "2:1"}},
       "a = x + 100.0; m = mean(a); v = var(a); w = var(x * x) + min(x)",
       {1},
       {.row_threads = 64, .splits = 7, .register_vectors = 0}},
      {"columns", {{"x", f32, "(300,72):(72,1)"}, {"y", f32, "72:1"}}, "y = mean(x)", {0}},
      {"columns of one vector, other columns far away",
       {{"x", f32, "(5,3001,4):(12004,4,1)"}, {"y", f32, "(5,1,4):(4,4,1)"}},
       "y = mean((x - mean(x)) * (x - mean(x)))",
       {1},
       {.cluster = 1}},
      {"columns that a thread holds, shifted",
       {{"x", bf16, "(6,7,223):(1561,223,1)"}, {"y", bf16, "(6,7,223):(1561,223,1)"}},
       "d = x - mean(x); y = d * rsqrt(mean(d * d) + 1e-5)",
       {1}},
      {"columns that several threads hold",
       {{"x", bf16, "(113,584):(584,1)"}, {"y", bf16, "584:1"}},
       "y = var(x)",
       {0}},
      {"peeled rows of several runs",
       {{"x", bf16, "(9,7,333):(2331,333,1)"}, {"y", bf16, "(9,7,333):(2331,333,1)"}},
       "y = x * rsqrt(mean(x * x) + 1e-5)",
       {0, 2},
       {.vector = 8}},
      {"peeled rows of several runs with gaps, their places and weights",
       {{"x", bf16, "(9,7,333):(2401,343,1)"},
        {"w", bf16, "(9,1,333):(333,0,1)"},
        {"y", bf16, "(9,7,333):(2331,333,1)"},
        {"z", i64, "(1,7,1):(0,1,0)"}},
       "y = x * w - max(x); z = argmax(x)",
       {0, 2},
       {.vector = 8}},
      {"heavy values of rows with an end",
       {{"x", bf16, "(9,250):(250,1)"}, {"y", bf16, "(9,250):(250,1)"}},
       "v = log(1 + exp(x)); e = exp(v - max(v)); y = e / sum(e)"},
      {"heavy values of peeled rows, and weights",
       {{"x", bf16, "(7,333):(333,1)"}, {"w", bf16, "333:1"}, {"y", bf16, "(7,333):(333,1)"}},
       "v = log(1 + exp(x)) * w; e = exp(v - max(v)); y = e / sum(e)",
       {1},
       {.vector = 8}},
      {"heavy values of columns",
       {{"x", f32, "(37,70):(70,1)"}, {"y", f32, "(37,70):(70,1)"}},
       "v = log(1 + exp(x)); y = v / sum(v * v)",
       {0}},
      {"heavy values below a maximum, not held",
       {{"x", f32, "(3,3001):(3001,1)"}, {"y", f32, "3:1"}},
       "v = log(1 + exp(x)); y = max(v) + log(sum(exp(v - max(v))))",
       {1},
       {.register_vectors = 0}},
      {"columns, an output that lies along them",
       {{"x", f32, "(37,205):(1,37)"}, {"y", f32, "(37,205):(205,1)"}},
       "e = exp(x - max(x)); y = e / sum(e)"},
      {"columns of several modes, two outputs that lie along them and one that does not",
       {{"x", bf16, "(7,12,111):(12,1,84)"},
        {"y", f16, "(7,12,111):(1332,111,1)"},
        {"z", f32, "(7,12,111):(1344,112,1)"},
        {"v", f32, "(7,12,111):(12,1,84)"}},
       "y = x - max(x); z = x - min(x); v = x - mean(x)",
       {2}},
      {"vectors of columns, an output that lies along them",
       {{"x", f16, "(44,300):(1,44)"}, {"y", f16, "(44,300):(300,1)"}},
       "y = x / max(x)",
       {1},
       {.vector = 4}},
      {"columns that are read again, an output that lies along them",
       {{"x", f32, "(37,905):(1,37)"}, {"y", f32, "(37,905):(905,1)"}},
       "y = x / max(x)",
       {1},
       {.register_vectors = 0}},
      {"alike rows, of odd length",
       {{"x", bf16, "(2100,1023):(0,1)"},
        {"g", bf16, "1023:1"},
        {"y", bf16, "(2100,1023):(1023,1)"}},
       "y = x * rsqrt(mean(x * x) + 1e-5) * g"},
      {"places among equals, infinities and nan, by warps",
       {{"x", i8, "(5,3001):(3001,1)"}, {"y", i64, "(5,1):(1,1)"}},
       "y = argmin(log(f32(x)))"},
      {"places among equals and nan, by a warp",
       {{"x", i8, "(70,177):(177,1)"}, {"y", i64, "(70,1):(1,1)"}},
       "y = argmax(where(x > 0, f32(x), f32(x) / 0.0 * 0.0))",
       {1},
       {.row_threads = 32}},
      {"places of nothing but nan, and of zeros with both signs",
       {{"x", i8, "(7,130):(130,1)"},
        {"y", i64, "(7,1):(1,1)"},
        {"z", i64, "(7,1):(1,1)"},
        {"m", f32, "(7,1):(1,1)"}},
       "y = argmax(f32(x) * 0.0 / 0.0); z = argmin(f32(x) * 0.0); m = max(f32(x))",
       {1},
       {.row_threads = 64}},
      {"alike rows, one element each",
       {{"x", f32, "(7001,5,77):(0,77,1)"},
        {"y", f32, "(7001,5):(5,1)"},
        {"z", i64, "(7001,5):(5,1)"}},
       "y = sum(x); z = argmin(x)",
       {2}},
      {"alike columns",
       {{"x", f32, "(2003,19,72):(0,72,1)"}, {"y", f32, "(2003,19,72):(1368,72,1)"}},
       "y = x - max(x)",
       {1},
       {.vector = 1, .row_threads = 2}},
      {"rows of runs below a sector",
       {{"x", u8, "(70,8200,4):(32800,4,1)"}, {"y", i32, "(1,8200,1):(8200,1,1)"}},
       "y = sum(i32(x))",
       {0, 2}},
      {"rows of runs below a sector, side by side and held",
       {{"x", f32, "(16,1024,4):(4096,4,1)"}, {"y", f32, "(16,1024,4):(4096,4,1)"}},
       "d = x - mean(x); y = d * rsqrt(mean(d * d) + 1e-5)",
       {0, 2}},
      {"more of them than a block has, with their results",
       {{"x", f16, "(8,2101,6):(12606,6,1)"},
        {"y", f16, "(8,2101,6):(12606,6,1)"},
        {"z", f32, "(1,2101,1):(2101,1,1)"}},
       "e = exp(x - max(x)); y = e / sum(e); z = sum(e)",
       {0, 2}},
      {"places of rows side by side",
       {{"x", f32, "(9,70,3):(210,3,1)"}, {"y", i64, "(1,70,1):(70,1,1)"}},
       "y = argmax(x)",
       {0, 2}},
      {"rows side by side that blocks share",
       {{"x", f32, "(3001,10,3):(30,3,1)"}, {"y", f32, "(1,10,1):(10,1,1)"}},
       "y = var(x)",
       {0, 2}},
      {"columns whose results lie in another order",
       {{"x", f32, "(2,64,1028,2):(65792,1,64,131584)"},
        {"y", f32, "(2,64,1028):(65792,1028,1)"},
        {"z", i64, "(2,64,1028):(65792,1028,1)"}},
       "y = sum(x * x); z = argmax(x)",
       {3}},
      {"the same by single elements",
       {{"x", bf16, "(1032,128,2):(129,1,140000)"}, {"y", f16, "(1032,128):(1,1032)"}},
       "y = max(x) - mean(x)",
       {2}},
      {"elements that are repeated",
       {{"x", f32, "(7,30,16):(0,16,1)"}, {"y", f32, "30:1"}, {"z", f32, "30:1"}},
       "y = mean(x) + max(x); z = var(x)",
       {0, 2}},
      {"nothing but repeated elements",
       {{"x", i32, "(5,60):(0,1)"}, {"y", i64, "60:1"}},
       "y = sum(x) + max(x)",
       {0}},
      // Warps that had begun the second pass overwrote results of the first.
      {"columns, larger accumulators in the second pass",
       {{"x", f32, "(1013,72):(72,1)"}, {"y", f32, "72:1"}, {"z", f32, "72:1"}},
       "m = max(x); y = sum(x - m); z = sum(abs(x) * m)",
       {0},
       {.cluster = 1}},
      {"shared by blocks", {{"x", f32, "90001:1"}, {"y", f32, "1:0"}}, "y = sum(x)", {0}},
      {"shared rows of integers",
       {{"x", i8, "(3,70001):(70001,1)"}, {"y", i64, "3:1"}, {"z", i64, "3:1"}},
       "y = sum(x); z = argmax(x)"},
      {"shares of exponentials",
       {{"x", f32, "200003:1"}, {"y", f32, "1:0"}},
       "y = log(sum(exp(x - max(x)))) + max(x)",
       {0}},
      {"shares that are held",
       {{"x", f32, "(2,45001):(45001,1)"}, {"y", f32, "2:1"}, {"z", i64, "2:1"}},
       "y = sum(x); z = argmax(x)",
       {1},
       {.row_threads = 64, .splits = 190, .register_vectors = 4}},
  };
  EmulatedKernels kernels;
  for (const RowsCase& c : cases) {
    kernels.add(
        c.what,
        {.op = {.tensors = c.tensors, .formula = c.formula, .axis = c.axis, .tuning = c.tuning},
         .symbols = {},
         .scalars = {}});
  }
  ASSERT_TRUE(kernels.compile());
  Random random(11);
  kernels.verify_all(random);
}

/// Each kernel runs twice in the same memory: a launch leaves the counts as it found them.
TEST(EmulatedRows, CombinedByTheLastBlockAgreeWithTheReference) {
  const RowsCase cases[] = {
      {"everything", {{"x", f32, "90001:1"}, {"y", f32, "1:0"}}, "y = sum(x)", {0}},
      {"in place",
       {{"x", f32, "(2,50001):(50001,1)"}, {"y", f32, "(2,1):(1,1)", Access::inout}},
       "y = y + max(x * y)"},
      {"places", {{"x", i16, "(3,70001):(70001,1)"}, {"y", i64, "3:1"}}, "y = argmin(x)"},
      {"more rows than a block has",
       {{"x", f64, "(4001,42):(42,1)"}, {"y", f64, "42:1"}},
       "y = sum(x) + prod(1 + 0.001 * x)",
       {0},
       {.splits = 3}},
  };
  EmulatedKernels kernels;
  for (const RowsCase& c : cases) {
    Tuning tuning = c.tuning;
    tuning.atomics = true;
    RandomCase counted{
        .op = {.tensors = c.tensors, .formula = c.formula, .axis = c.axis, .tuning = tuning},
        .symbols = {},
        .scalars = {}};
    const plan::Plan plan = plan::make_plan(counted.op, formula::analyze(counted.op),
                                            {.major = 9, .minor = 0, .feature = 'a'});
    EXPECT_TRUE(plan::rows_of(plan)->atomics) << c.what;
    kernels.add(c.what, std::move(counted));
  }
  ASSERT_TRUE(kernels.compile());
  Random random(12);
  kernels.verify_all(random);
}

}  // namespace
}  // namespace tilejit::test
