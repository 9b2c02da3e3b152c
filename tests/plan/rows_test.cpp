// How reductions are planned: which modes are a row, and who shares it.
#include "rows/rows.hpp"

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>

#include "core/integer.hpp"
#include "plan/plans.hpp"
#include "support/specs.hpp"
#include "tilejit/error.hpp"

namespace tilejit::plan {
namespace {

Fused softmax(const std::string& layout, DType dtype = bf16) {
  return test::make_op(dtype, {{"x", layout}, {"y", layout}},
                       "e = exp(x - max(x))\ny = e / sum(e)");
}

Fused sum(const std::string& x, const std::string& y, std::vector<int> axis) {
  Fused op = test::make_op(bf16, {{"x", x}, {"y", y}}, "y = sum(x)");
  op.axis = std::move(axis);
  return op;
}

Fused logsumexp(const std::string& x, const std::string& y = "8:1") {
  return test::make_op(bf16, {{"x", x}, {"y", y}}, "y = log(sum(exp(x - max(x)))) + max(x)");
}

// 1002/97 of the sweep: runs of 16 bytes, 44 us if each warp has runs of one row.
TEST(Rows, WithShortRunsHaveTheirThreadsSideBySide) {
  struct Row {
    const char* what;
    const char *layout, *formula;
    bool abreast;
    int row_threads, threads, cluster, splits, register_vectors;
  };
  constexpr const char* kNorm = "d = x - mean(x)\ny = d * rsqrt(mean(d * d) + 1e-5)";
  constexpr Row kRows[] = {
      {"held, four side by side", "(512,2448,4):(9792,4,1)", kNorm, true, 64, 256, 1, 1, 8},
      {"runs of two sectors", "(512,2448,16):(39168,16,1)", kNorm, false, 512, 512, 1, 1, 4},
      {"odd runs in clusters", "(3000,300,3):(900,3,1)", kNorm, true, 64, 256, 8, 1, 18},
      {"few rows", "(300,30,3):(90,3,1)", kNorm, false, 256, 256, 1, 1, 4},
      {"too few for blocks to wait", "(42,49,9):(441,9,1)", kNorm, true, 256, 256, 1, 1, 2},
      {"eight, if they fill the device", "(144,65536,3):(196608,3,1)", kNorm, true, 32, 256, 1, 1,
       14},
      {"four are whole sectors", "(128,65536,4):(262144,4,1)", kNorm, true, 32, 128, 1, 1, 4},
      {"a warp has eight anyway", "(7,90000,9):(810000,9,1)", kNorm, false, 4, 128, 1, 1, 16},
      {"rows with gaps between them", "(512,2448,4):(19584,8,1)", kNorm, false, 256, 256, 1, 1, 2},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.what);
    Fused op = test::make_op(f32, {{"x", row.layout}, {"y", row.layout}}, row.formula);
    op.axis = {0, 2};
    const Plan plan = plan_of(op);
    ASSERT_TRUE(rows_of(plan) != nullptr);
    EXPECT_EQ(rows_of(plan)->abreast, row.abreast);
    EXPECT_EQ(rows_of(plan)->row_threads, row.row_threads);
    EXPECT_EQ(plan.threads, row.threads);
    EXPECT_EQ(rows_of(plan)->cluster, row.cluster);
    EXPECT_EQ(rows_of(plan)->splits, row.splits);
    EXPECT_EQ(rows_of(plan)->register_vectors, row.register_vectors);
  }
}

TEST(Rows, AreSharedByAsManyThreadsAsHoldThem) {
  struct Row {
    const char* what;
    const char* layout;
    Target target;
    int row_threads, cluster, register_vectors, threads;
  };
  constexpr Row kRows[] = {
      {"one vector", "(1000,8):(8,1)", kHopper, 1, 1, 1, 128},
      {"less than a warp", "(1000,64):(64,1)", kHopper, 8, 1, 1, 128},
      {"two warps", "(8192,1024):(1024,1)", kHopper, 64, 1, 2, 128},
      {"as many threads as vectors, of few rows", "(200,1024):(1024,1)", kHopper, 128, 1, 1, 128},
      {"too long for that", "(100,4096):(4096,1)", kHopper, 256, 1, 2, 256},
      {"a block", "(8192,4096):(4096,1)", kHopper, 256, 1, 2, 256},
      {"a large block", "(4096,16384):(16384,1)", kHopper, 512, 1, 4, 512},
      {"a cluster", "(1024,131072):(131072,1)", kHopper, 512, 8, 4, 512},
      {"a smaller cluster", "(1024,65536):(65536,1)", kHopper, 512, 4, 4, 512},
      {"no clusters", "(100,65536):(65536,1)", kAmpere, 1024, 1, 0, 1024},
      {"longer than a cluster holds", "(8,600000):(600000,1)", kHopper, 1024, 8, 0, 1024},
      {"length known at launch", "(M,N):(N,1)", kHopper, 256, 1, 0, 256},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.what);
    const Plan plan = plan_of(softmax(row.layout), row.target);
    ASSERT_TRUE(rows_of(plan) != nullptr);
    EXPECT_TRUE(rows_of(plan)->along());
    EXPECT_EQ(rows_of(plan)->row_threads, row.row_threads);
    EXPECT_EQ(rows_of(plan)->cluster, row.cluster);
    EXPECT_EQ(rows_of(plan)->register_vectors, row.register_vectors);
    EXPECT_EQ(plan.threads, row.threads);
    EXPECT_FALSE(plan.operands[1].per_row);
  }
}

TEST(Rows, AreStoredSeveralTimesIfNoInputTellsThemApart) {
  struct Row {
    const char* what;
    const char* x;
    const char* y;
    const char* formula;
    std::vector<int> axis;
    int alike;
    std::int64_t units;
    bool peeled;
  };
  const Row kRows[] = {
      {"an even length",
       "(6400,1024):(0,1)",
       "(6400,1024):(1024,1)",
       "y = x / sum(x)",
       {1},
       3,
       2134,
       false},
      {"an odd length",
       "(6400,1023):(0,1)",
       "(6400,1023):(1023,1)",
       "y = x / sum(x)",
       {1},
       6,
       1067,
       false},
      {"one element each", "(6400,1023):(0,1)", "6400:1", "y = sum(x)", {1}, 3, 2134, false},
      {"inner rows that differ",
       "(640,20,1024):(0,1024,1)",
       "(640,20,1024):(20480,1024,1)",
       "y = x / sum(x)",
       {2},
       6,
       2140,
       false},
      {"few", "(100,1024):(0,1)", "(100,1024):(1024,1)", "y = x / sum(x)", {1}, 1, 100, false},
      {"outer rows that differ",
       "(640,20,1024):(1024,0,1)",
       "(640,20,1024):(20480,1024,1)",
       "y = x / sum(x)",
       {2},
       5,
       2560,
       false},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.what);
    Fused op = test::make_op(bf16, {{"x", row.x}, {"y", row.y}}, row.formula);
    op.axis = row.axis;
    const Plan plan = plan_of(op);
    ASSERT_TRUE(rows_of(plan) != nullptr);
    EXPECT_EQ(rows_of(plan)->alike, row.alike);
    EXPECT_EQ(total_units(plan), row.units);
    EXPECT_EQ(plan.peeled, row.peeled);
    EXPECT_EQ(plan.operands[0].every_row, row.alike == 1);
  }
}

// 2903/34 of the sweep: 29.3 us by 264 blocks that store 12 rows each, 26.3 by 1,047 of 128
// threads.
TEST(Rows, ThatAreStoredInLittleTimeHaveBlocksThatStoreWhileOthersCompute) {
  const auto alike = [](const std::string& repeats) {
    const std::string full = "(" + repeats + ",3,4097):";
    Fused op = test::make_op(f32, {{"x", full + "(0,4097,1)"}, {"y", full + "(12291,4097,1)"}},
                             "v = 1 / (abs(x) + 1)\ny = v / (abs(sqrt(sum(v * v))) + 1)");
    op.axis = {2};
    return rows_of(plan_of(op))->alike;
  };
  EXPECT_EQ(alike("1047"), 3);
  EXPECT_EQ(alike("3000"), 35) << "the first blocks compute for little of the time";
}

// Alike rows are counted without their length, which only the launch knows.
TEST(Rows, ThatAreAlikeMayHaveASymbolAsLength) {
  Fused op =
      test::make_op(f32, {{"x", "(4896,N):(0,1)"}, {"y", "(4896,N):(N,1)"}}, "y = x - sum(x)");
  op.axis = {1};
  const Plan plan = plan_of(op);
  ASSERT_NE(rows_of(plan), nullptr);
  ASSERT_GT(rows_of(plan)->alike, 1);
  EXPECT_EQ(total_units(plan), core::ceil_div(4896, rows_of(plan)->alike));
}

TEST(Rows, OfLongFormulasHaveNarrowerVectorsWhereTheyAreFewAndShort) {
  const auto vector = [](const std::string& layout) {
    return plan_of(test::make_op(bf16, {{"x", layout}, {"y", layout}},
                                 "y = (x - mean(x)) * rsqrt(var(x) + 1e-5)"))
        .vector;
  };
  EXPECT_EQ(vector("(128,1024):(1024,1)"), 4);
  EXPECT_EQ(vector("(8192,1024):(1024,1)"), 8);
  EXPECT_EQ(vector("(128,4096):(4096,1)"), 8);
  EXPECT_EQ(plan_of(softmax("(128,1024):(1024,1)")).vector, 8);
}

TEST(Rows, FewAndLongOnesAreSharedAmongBlocks) {
  struct Row {
    const char* what;
    Fused op;
    int cluster, splits, register_vectors;
    std::int64_t partials_bytes;
  };
  const Row kRows[] = {
      {"everything", sum("(8192,4096):(4096,1)", "1:0", {0, 1}), 1, 8192, 2, 8192 * 4},
      {"more of everything", sum("(1024,131072):(131072,1)", "1:0", {0, 1}), 1, 8192, 4, 8192 * 4},
      {"more than is held", sum("(1024,262144):(262144,1)", "1:0", {0, 1}), 1, 264, 0, 264 * 4},
      {"less of everything", sum("(1024,4096):(4096,1)", "1:0", {0, 1}), 1, 1024, 2, 1024 * 4},
      {"as much as runs at once", sum("1081344:1", "1:0", {0}), 1, 528, 1, 528 * 4},
      {"little of everything", sum("(64,64):(64,1)", "1:0", {0, 1}), 1, 1, 2, 0},
      {"eight rows", sum("(8,4194304):(4194304,1)", "8:1", {1}), 1, 1024, 2, 8 * 1024 * 4},
      {"columns", sum("(32768,1024):(1024,1)", "1024:1", {0}), 8, 1, 0, 0},
      {"many columns", sum("(1024,131072):(131072,1)", "131072:1", {0}), 1, 1, 0, 0},
      {"few columns", sum("(1000000,64):(64,1)", "64:1", {0}), 1, 264, 0, 64 * 264 * 4},
      {"many rows", sum("(4096,131072):(131072,1)", "4096:1", {1}), 1, 1, 0, 0},
      {"exponentials below their maximum, which a held row sums in a second pass",
       logsumexp("(8,4194304):(4194304,1)"), 1, 33, 0, 8 * 33 * 8},
      {"such rows that are shorter", logsumexp("(2,294912):(294912,1)", "2:1"), 1, 36, 0,
       2 * 36 * 8},
      {"several passes", softmax("(12,600000):(600000,1)"), 8, 1, 0, 0},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.what);
    const Plan plan = plan_of(row.op);
    EXPECT_EQ(rows_of(plan)->cluster, row.cluster);
    EXPECT_EQ(rows_of(plan)->splits, row.splits);
    EXPECT_EQ(rows_of(plan)->register_vectors, row.register_vectors);
    EXPECT_EQ(partials_bytes(plan), row.partials_bytes);
    EXPECT_EQ(launch_plan(plan).steps.size(), row.splits > 1 ? 2u : 1u);
  }
  EXPECT_EQ(rows_of(plan_of(sum("(264,131072):(131072,1)", "264:1", {1}), kAmpere))->splits, 16);
  EXPECT_EQ(rows_of(plan_of(sum("(265,131072):(131072,1)", "265:1", {1}), kAmpere))->splits, 1);
}

TEST(Rows, FewAndLongOnesOfSeveralPassesAreKernelsOfOnePassEach) {
  Fused norm = softmax("(3,4194304):(4194304,1)");
  norm.formula = "d = x - mean(x); y = d * rsqrt(mean(d * d) + 1e-5)";
  Fused columns = softmax("(1000000,12):(12,1)");
  columns.axis = {0};
  const std::pair<Fused, std::size_t> kOps[] = {
      {softmax("(3,4194304):(4194304,1)"), 2}, {norm, 2}, {columns, 2}};
  for (const auto& [op, parts] : kOps) {
    SCOPED_TRACE(op.formula);
    const Plan plan = plan_of(op);
    const auto* const several = std::get_if<Several>(&plan.family);
    ASSERT_NE(several, nullptr);
    ASSERT_EQ(several->parts.size(), parts);
    for (std::size_t i = 0; i + 1 < parts; ++i) {
      EXPECT_GT(rows_of(several->parts[i])->splits, 1) << i;
    }
    EXPECT_TRUE(std::holds_alternative<Map>(several->parts.back().family));
  }
  EXPECT_NE(rows_of(plan_of(softmax("(3,40000):(40000,1)"))), nullptr) << "clusters hold the rows";
  columns.formula = "y = cumsum(x)";
  EXPECT_NE(rows_of(plan_of(columns)), nullptr) << "a scan has one kernel";
  Fused pinned = norm;
  pinned.tuning.row_threads = 512;
  EXPECT_NE(rows_of(plan_of(pinned)), nullptr) << "knobs are of one kernel";
}

TEST(Rows, ThatAreOnlyReadHaveLargeBlocksIfTheyAreMany) {
  EXPECT_EQ(plan_of(sum("(500000,128):(128,1)", "500000:1", {1})).threads, 256);
  EXPECT_EQ(plan_of(sum("(5000,128):(128,1)", "5000:1", {1})).threads, 128);
  EXPECT_EQ(plan_of(softmax("(500000,128):(128,1)")).threads, 128);
}

TEST(Rows, HaveBlocksThatMoveEnoughIfTheyAreMany) {
  EXPECT_EQ(plan_of(softmax("(480120,2):(2,1)", f32)).threads, 256);
  EXPECT_EQ(plan_of(softmax("(1000000,64):(64,1)", f32)).threads, 128);
}

TEST(Rows, ThatFitAClusterTakeNoSecondKernel) {
  const Plan plan = plan_of(sum("71904:1", "1:0", {0}));
  EXPECT_EQ(rows_of(plan)->cluster, 8);
  EXPECT_EQ(rows_of(plan)->splits, 1);
  EXPECT_EQ(rows_of(plan_of(sum("98304:1", "1:0", {0})))->cluster, 8);
  EXPECT_GT(rows_of(plan_of(sum("98312:1", "1:0", {0})))->splits, 1);
}

TEST(Rows, OfShortColumnsAreLoadedAtOnce) {
  struct Row {
    const char *x, *y;
    int row_threads, register_vectors;
  };
  constexpr Row kRows[] = {
      {"(61,513,16,9):(82080,160,10,1)", "(61,513,9):(4617,9,1)", 1, 16},
      {"(61,51,16,9):(8160,160,10,1)", "(61,51,9):(459,9,1)", 1, 16},     // few
      {"(61,513,17,9):(87210,170,10,1)", "(61,513,9):(4617,9,1)", 2, 0},  // long
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.x);
    const Plan plan = plan_of(sum(row.x, row.y, {2}));
    ASSERT_FALSE(rows_of(plan)->along());
    EXPECT_EQ(rows_of(plan)->row_threads, row.row_threads);
    EXPECT_EQ(rows_of(plan)->register_vectors, row.register_vectors);
  }
}

TEST(Rows, OfShortRunsAreAccessedByWholeSectors) {
  Fused columns = test::make_op(
      f16, {{"x", "(2,128,8192,4):(4194304,32768,4,1)"}, {"y", "(2,128,1,4):(512,4,4,1)"}},
      "y = sum(x)");
  columns.axis = {2};
  const Plan across = plan_of(columns);
  EXPECT_FALSE(rows_of(across)->along());
  EXPECT_EQ(rows_of(across)->row_threads, across.threads) << "no other columns are near";
  Fused runs = test::make_op(
      f16, {{"x", "(528,65536,4):(262144,4,1)"}, {"y", "(1,65536,1):(65536,1,1)"}}, "y = sum(x)");
  runs.axis = {0, 2};
  EXPECT_TRUE(rows_of(plan_of(runs))->along());
  EXPECT_EQ(rows_of(plan_of(runs))->row_threads, 4);
  runs.tensors[0].layout = parse_layout("(528,65536,4):(524288,8,1)");
  EXPECT_EQ(rows_of(plan_of(runs))->row_threads, 256) << "the next row's run is further away";
  // 701/69 of the sweep: 35.7 us with 512 threads a row, 32.2 with 16.
  runs = test::make_op(
      f32, {{"x", "(203,10000,10):(100000,10,1)"}, {"y", "(1,10000,1):(10000,1,1)"}}, "y = sum(x)");
  runs.axis = {0, 2};
  EXPECT_EQ(rows_of(plan_of(runs))->row_threads, 16) << "runs of 40 bytes";
}

// Two vectors of 16 bytes, or as many bytes, are under way per thread: with one, the fastest
// memories wait for threads. Time is proportional to the threads of a row until the memory limits
// it.
TEST(Rows, HaveAsManyThreadsAsStayBusy) {
  struct Row {
    const char* layout;
    DType dtype;
    int row_threads, register_vectors;
  };
  const Row kRows[] = {
      {"(4000,62):(62,1)", f16, 8, 4},        {"(4000,33):(33,1)", f32, 8, 5},
      {"(2000,127):(127,1)", bf16, 32, 4},    {"(100000,301):(301,1)", f32, 64, 5},
      {"(30000,1001):(1001,1)", f32, 128, 8}, {"(200000,330):(330,1)", bf16, 32, 6},
      {"(30000,635):(635,1)", f32, 128, 5},   {"(300000,256):(256,1)", f16, 16, 2},
      {"(300000,120):(120,1)", bf16, 8, 2},   {"(1000000,32):(32,1)", f16, 2, 2},
      {"(1000000,16):(16,1)", f16, 2, 1},     {"(1000000,8):(8,1)", f32, 2, 1},
      {"(30000,768):(768,1)", bf16, 32, 3},   {"(64,768):(768,1)", bf16, 128, 1},
      {"(979,513):(513,1)", f32, 128, 5},     {"(120,202):(202,1)", bf16, 32, 4},
      {"(24,3587):(3587,1)", f32, 512, 8},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.layout);
    Fused op = softmax(row.layout);
    for (Tensor& tensor : op.tensors) tensor.dtype = row.dtype;
    const Plan plan = plan_of(op);
    EXPECT_EQ(rows_of(plan)->row_threads, row.row_threads);
    EXPECT_EQ(rows_of(plan)->register_vectors, row.register_vectors);
  }
}

TEST(Rows, HaveFewerThreadsIfInstructionsTakeLongerThanMemory) {
  struct Row {
    const char* layout;
    const char* formula;
    int row_threads, register_vectors;
  };
  const Row kRows[] = {
      {"(50000,495):(495,1)", "y = erf((x - mean(x)) * rsqrt(var(x) + 1e-5))", 64, 8},
      {"(50000,495):(495,1)", "y = x * rsqrt(mean(x * x) + 1e-5)", 128, 4},
      {"(500,495):(495,1)", "y = erf((x - mean(x)) * rsqrt(var(x) + 1e-5))", 128, 4},
      {"(9329,1857):(1857,1)", "y = erf((x - mean(x)) * rsqrt(var(x) + 1e-5))", 256, 8},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.layout);
    Fused op = test::make_op(f32, {{"x", row.layout}, {"y", row.layout}}, row.formula);
    op.axis = {1};
    const Plan plan = plan_of(op);
    EXPECT_EQ(rows_of(plan)->row_threads, row.row_threads);
    EXPECT_EQ(rows_of(plan)->register_vectors, row.register_vectors);
  }
}

struct RowOfThreads {
  const char* formula;
  DType dtype;
  const char* layout;
  int row_threads, register_vectors, vector;
  int cluster = 1;
};

void expect_threads(std::span<const RowOfThreads> rows) {
  for (const RowOfThreads& row : rows) {
    const std::string layout = row.layout, formula = row.formula;
    SCOPED_TRACE(layout + " " + formula);
    Fused op = test::make_op(row.dtype, {{"x", layout}}, formula);
    const std::string weight = layout.substr(layout.find(',') + 1, layout.find(')') - 1);
    const std::string length = weight.substr(0, weight.find(')'));
    for (const char* name : {"r", "w", "b", "y", "z"}) {
      const std::string wanted = std::string(" ") + name + " ";
      if ((" " + formula + " ").find(wanted) == std::string::npos) continue;
      const bool is_weight = *name == 'w' || *name == 'b';
      op.tensors.push_back({name, row.dtype, is_weight ? length + ":1" : layout});
    }
    op.axis = {1};
    const Plan plan = plan_of(op);
    EXPECT_EQ(rows_of(plan)->row_threads, row.row_threads);
    EXPECT_EQ(rows_of(plan)->register_vectors, row.register_vectors);
    EXPECT_EQ(rows_of(plan)->cluster, row.cluster);
    EXPECT_EQ(plan.vector, row.vector);
  }
}

constexpr const char* kSoftmax = "e = exp(x - max(x)); y = e / sum(e)";
constexpr const char* kLayernorm = "d = x - mean(x); y = d * rsqrt(var(x) + 1e-5) * w + b";
constexpr const char* kResidual = "v = x + r ; y = v * rsqrt(mean(v * v) + 1e-5) * w";

// 2901/165 and 2902/15 of the sweep: 47.0 and 41.4 us by threads of 56 values, which each pass
// computes, 23.3 and 36.3 by those of 32, which hold them.
TEST(Rows, OfHeavyValuesHaveAsManyThreadsAsHoldThese) {
  const RowOfThreads kRows[] = {
      {"v = sin(x) ; y = v / (max(abs(v)) + 1)", f16, "(59392,197):(197,1)", 8, 4, 8},
      {"v = max(log(abs(x) + 1), w ) ; y = v / (mean(abs(v)) + 1)", bf16, "(94309,197):(197,1)", 8,
       4, 8},
  };
  expect_threads(kRows);
}

// 2902/194 and 2903/98 of the sweep: 11.8 and 54.1 us by 512 threads, 9.7 and 47.9 by 1024.
TEST(Rows, OfManyHeavyValuesHaveTheLargestBlocks) {
  const RowOfThreads kRows[] = {
      {"v = sin(x) ; y = v / (sqrt(sum(v * v)) + 1)", f16, "(200,14376):(14376,1)", 1024, 2, 8},
      {"v = log(1 + exp(x)) ; y = v / (sum(v * v) + 1)", f32, "(2048,8192):(8192,1)", 1024, 2, 4},
      {"v = log(1 + exp(x)) ; y = v / (sum(v * v) + 1)", f32, "(2048,6144):(6144,1)", 512, 3, 4},
      {"y = x / (sum(x * x) + 1)", f32, "(2048,8192):(8192,1)", 512, 4, 4},
  };
  expect_threads(kRows);
}

// 1308/69 and 1301/143 of the sweep: 41 and 64 us by 32 threads, 35 and 56.5 by 64; 1302/195: 5.0
// us peeled, 3.9 by words.
TEST(Rows, OfWordsHaveFourInAThreadIfTheyAreSeveralOrFew) {
  const RowOfThreads kRows[] = {
      {kResidual, f32, "(28220,211):(211,1)", 64, 4, 1},
      {kSoftmax, f32, "(28220,211):(211,1)", 32, 7, 1},
      {kLayernorm, f32, "(3000,151):(151,1)", 64, 3, 1},
      {kLayernorm, f32, "(1500,333):(333,1)", 128, 3, 1},
      {kLayernorm, f32, "(200,461):(461,1)", 128, 1, 4},
      {kLayernorm, f32, "(6000,201):(201,1)", 32, 7, 1},
      {kLayernorm, f32, "(1000,515):(515,1)", 128, 2, 4},
  };
  expect_threads(kRows);
}

// 1803/83 of the sweep: 63.1 us by 512 threads, 56.4; 2104/85, 20,858 rows of 257: 9.7 us, 11.0 by
// threads that the device lacks.
TEST(Rows, OfWeightsHaveFewerThreadsIfTheDeviceHasManyAndEachEightVectors) {
  constexpr const char* kNormalise = "y = x / (abs(sqrt(sum(x * x))) + 1)";
  const RowOfThreads kRows[] = {
      {kLayernorm, f32, "(9329,2047):(2047,1)", 256, 8, 1},
      {kLayernorm, f32, "(9329,4095):(4095,1)", 512, 8, 1},
      {kNormalise, bf16, "(20858,257):(257,1)", 16, 5, 4},
  };
  expect_threads(kRows);
  // 1901/214, centres beside 16 registers: 74.3 us, 79.4 by 16 threads.
  Fused op = test::make_op(f32, {{"x", "(56624,512):(512,1)"}, {"y", "56624:1"}},
                           "y = exp(var(tanh(erf(x)), axis=1))");
  EXPECT_EQ(rows_of(plan_of(op))->row_threads, 32);
  EXPECT_EQ(rows_of(plan_of(op))->register_vectors, 4);
}

// 1801/140 and 1902/103 of the sweep: 4.26 and 4.13 us by half as many threads, 3.46 and 3.90.
TEST(Rows, HaveAWarpOnEachSchedulerIfTheDeviceHasRoom) {
  const RowOfThreads kRows[] = {
      {kLayernorm, f32, "(576,800):(800,1)", 128, 2, 4},
      {kLayernorm, f32, "(1100,800):(800,1)", 64, 4, 4},
      {kResidual, bf16, "(1192,536):(536,1)", 64, 2, 8},
      {kLayernorm, bf16, "(1192,512):(512,1)", 32, 2, 8},
      {kLayernorm, f32, "(200,2400):(2400,1)", 256, 3, 4},
      // 2708/38: of 80 vectors, 64 threads compute 128, 32 threads 96, in 3.25 and 2.94 us.
      {"v = silu(x); y = v / (mean(abs(v)) + 1)", f16, "(910,640):(640,1)", 32, 3, 8},
      {"v = silu(x); y = v / (mean(abs(v)) + 1)", f16, "(910,1024):(1024,1)", 64, 2, 8},
  };
  expect_threads(kRows);
}

// 2912/71, 2902/26 and 2911/140 of the sweep: 8.67, 5.89 and 9.04 us by twice as many
// threads, 7.74, 5.44 and 8.67. 2911/179 and 2902/130: 11.94 and 8.40 by half as many, 10.73
// and 7.88.
TEST(Rows, HaveAsManyThreadsAsTakeOneTurnOrTwo) {
  const RowOfThreads kRows[] = {
      {kResidual, bf16, "(29639,96):(96,1)", 4, 3, 8},
      {kLayernorm, f32, "(2565,494):(494,1)", 64, 4, 2},
      {kLayernorm, f32, "(7776,333):(333,1)", 32, 11, 1},
      {kLayernorm, bf16, "(31144,200):(200,1)", 16, 2, 8},
      {kSoftmax, bf16, "(28086,200):(200,1)", 16, 2, 8},
  };
  expect_threads(kRows);
  const RowOfThreads kOthers[] = {
      {kResidual, bf16, "(20000,96):(96,1)", 8, 2, 8},
      {kLayernorm, f32, "(2000,494):(494,1)", 128, 2, 2},
      {kLayernorm, f32, "(17000,333):(333,1)", 64, 6, 1},
      {kLayernorm, bf16, "(62288,200):(200,1)", 8, 4, 8},
  };
  expect_threads(kOthers);
}

// 1901/167, 1803/37 and 1801/189 of the sweep: 1.91, 1.54 and 1.59 us by half as many threads,
// 1.52, 1.39 and 1.54.
TEST(Rows, ThatAreReadOnceBySoFewThreadsHaveMoreIfTheseSaveTime) {
  const RowOfThreads kRows[] = {
      {"y = max(erf(x), axis=1)", bf16, "(2110,64):(64,1)", 8, 1, 8},
      {"y = max(x, axis=1)", bf16, "(2110,64):(64,1)", 4, 2, 8},
      {"y = max(erf(x), axis=1)", bf16, "(21100,64):(64,1)", 4, 2, 8},
      {"y = mean(abs(x - r ), axis=1)", bf16, "(4,768):(768,1)", 128, 1, 8},
      {"y = mean(abs(x - r ), axis=1)", bf16, "(4,3088):(3088,1)", 512, 1, 8},
      {"y = sum(x, axis=1)", f32, "(4,640):(640,1)", 64, 3, 4},
      {"y = argmax(x, axis=1)", f32, "(885,279):(280,1)", 32, 3, 4},
  };
  for (const RowOfThreads& row : kRows) {
    const std::string layout = row.layout, count = layout.substr(1, layout.find(',') - 1);
    SCOPED_TRACE(layout + " " + row.formula);
    Fused op = test::make_op(row.dtype, {{"x", layout}}, row.formula);
    if (std::string(row.formula).find(" r ") != std::string::npos)
      op.tensors.push_back({"r", row.dtype, layout});
    op.tensors.push_back({"y", f32, count + ":1"});
    const Plan plan = plan_of(op);
    EXPECT_EQ(rows_of(plan)->row_threads, row.row_threads);
    EXPECT_EQ(rows_of(plan)->register_vectors, row.register_vectors);
    EXPECT_EQ(plan.vector, row.vector);
  }
}

// 1504/135 of the sweep, an input that begins an element late: 6.9 us by one thread, 5.6 by two.
TEST(Rows, OfWholeVectorsHaveThreadsOfTwoVectorsThoughAnInputComesByElements) {
  const auto threads = [](const std::string& length) {
    const std::string layout = "(221760," + length + "):(" + length + ",1)";
    Fused op =
        test::make_op(bf16, {{"x", layout}, {"y", layout}}, "y = x * rsqrt(mean(x * x) + 1e-5)");
    op.tensors[0].align = 2;
    op.axis = {1};
    return rows_of(plan_of(op))->row_threads;
  };
  EXPECT_EQ(threads("16"), 2);
  EXPECT_EQ(threads("64"), 4);
}

// 1804/112 of the sweep, 16 f32 and a mask: a thread that had the row alone stored halves of
// sectors.
TEST(Rows, OfWholeVectorsAndAMaskAreNotStoredInPartsOfSectors) {
  const auto threads = [](DType in, DType out, const std::string& length) {
    const std::string layout = "(384000," + length + "):(" + length + ",1)";
    Fused op = test::make_op(in, {{"x", layout}, {"m", layout}, {"y", layout}},
                             "v = where(m, x, -30.0); e = exp(v - max(v)); y = e / sum(e)");
    op.tensors[1].dtype = b8;
    op.tensors[2].dtype = out;
    op.axis = {1};
    return rows_of(plan_of(op))->row_threads;
  };
  EXPECT_EQ(threads(f32, f32, "8"), 2);
  EXPECT_EQ(threads(f32, f32, "16"), 2);
  EXPECT_EQ(threads(f32, f32, "20"), 4) << "every second row begins within a sector";
  EXPECT_EQ(threads(f32, f32, "24"), 2);
  EXPECT_EQ(threads(f32, f32, "32"), 4) << "80 bytes of a thread, of which sectors are shared";
  EXPECT_EQ(threads(f16, f16, "16"), 2);
  EXPECT_EQ(threads(f32, f16, "16"), 4) << "8 bytes each";
  EXPECT_EQ(threads(f32, bf16, "20"), 4) << "of 8 threads 3 would be idle";
}

// 1308/139 of the sweep: 9.6 us by one thread a row, 6.5 by four.
TEST(Rows, ThatAreStoredByNarrowAccessesHaveThreadsThatWriteSectors) {
  const RowOfThreads kRows[] = {
      {kLayernorm, f16, "(94100,10):(10,1)", 4, 2, 2},
      {kSoftmax, f16, "(94100,10):(10,1)", 1, 5, 2},
      {kLayernorm, f16, "(94100,4):(4,1)", 1, 1, 4},
  };
  expect_threads(kRows);
}

// 1306/144 of the sweep: 154 us by clusters of 4, 131 by blocks.
TEST(Rows, ThatABlockOf1024HoldsHaveNoClusterIfTheyAreMany) {
  const RowOfThreads kRows[] = {
      {kResidual, f32, "(3264,10000):(10000,1)", 1024, 3, 4},
      {kSoftmax, f32, "(2000,20000):(20000,1)", 1024, 5, 4},
  };
  expect_threads(kRows);
}

// 2903/82 of the sweep: 127.9 us by clusters of 2, which compute each row, 85.7 by blocks.
TEST(Rows, ThatNoInputTellsApartHaveNoClusterIfABlockHoldsThem) {
  const auto shape = [](const std::string& rows, const std::string& length) {
    const std::string full = "(" + rows + "," + length + "):";
    Fused op = test::make_op(
        f16, {{"x", full + "(0,1)"}, {"w", length + ":1"}, {"y", full + "(" + length + ",1)"}},
        "y = x * rsqrt(mean(x * x) + 1e-5) * w");
    op.axis = {1};
    const Rows& found = *rows_of(plan_of(op));
    return std::array<int, 3>{found.cluster, found.register_vectors, found.alike};
  };
  EXPECT_EQ(shape("3976", "32000"), (std::array{1, 4, 31}));
  EXPECT_EQ(shape("3976", "36000"), (std::array{2, 3, 1}));
}

// 2902/124 of the sweep: 220.8 us by blocks of 512 threads, 183.8 by 256.
TEST(Rows, ByElementsHaveMoreOfThemInSmallerBlocksOfClusters) {
  const RowOfThreads kRows[] = {
      {kSoftmax, f32, "(1334,50257):(50257,1)", 256, 25, 1, 8},
      {kSoftmax, f32, "(1334,60257):(60257,1)", 512, 15, 1, 8},
      {kSoftmax, f32, "(100,50257):(50257,1)", 512, 13, 1, 8},
  };
  expect_threads(kRows);
}

// 2404/20 and 2102/29 of the sweep: 200 and 15.6 us by clusters of 8 and 4, 169 and 13.9 by 2;
// 2903/179, variance and minimum of 246 rows of 50,000 f32: 34.7 us by 8, 22.7 by 4. Rows
// of 50,000 f16, whose values take more registers, took 1.04 times as long, peeled ones of 36,873
// with a residual 1.13, quotients, which are held, 1.39.
TEST(Rows, ThatTwoBlocksOf1024HoldAreSharedByNoMoreIfTheyAreMany) {
  const RowOfThreads kRows[] = {
      {kResidual, f32, "(1685,17944):(17944,1)", 1024, 3, 4, 2},
      {kSoftmax, f32, "(200,20000):(20000,1)", 1024, 3, 4, 2},
      {kSoftmax, f16, "(200,46120):(46120,1)", 1024, 3, 8, 2},
      {kSoftmax, f16, "(513,50000):(50000,1)", 512, 4, 8, 4},
      {kLayernorm, bf16, "(4049,32985):(32985,1)", 1024, 3, 8, 2},
      {kResidual, f16, "(236,36873):(36873,1)", 512, 3, 8, 4},
      {"v = x / (abs( w ) + 1); y = v / (mean(abs(v)) + 1)", f32, "(260,29930):(29930,1)", 512, 8,
       2, 4},
      {kSoftmax, f32, "(702,50000):(50000,1)", 1024, 4, 4, 4},
      {kSoftmax, f32, "(702,70000):(70000,1)", 1024, 3, 4, 8},
      {kSoftmax, f32, "(120,21688):(21688,1)", 1024, 2, 4, 4},
  };
  expect_threads(kRows);
}

// 1308/67 of the sweep: 41 us by 64 threads, 34 by 32; 1302/113: 172 and 107.
TEST(Rows, ThatAreReadOnceHaveFewerThreadsIfInstructionsTakeLongerThanMemory) {
  const auto threads = [](DType dtype, const char* n, const std::string& length,
                          const char* formula) {
    const std::string rows = n;
    Fused op =
        test::make_op(dtype, {{"x", "(" + rows + "," + length + "):(" + length + ",1)"}}, formula);
    op.tensors.push_back(
        {"y", std::string(formula).find("arg") == std::string::npos ? f32 : i64, rows + ":1"});
    op.axis = {1};
    return rows_of(plan_of(op))->row_threads;
  };
  EXPECT_EQ(threads(f16, "37137", "1023", "s = sigmoid(x); y = sum(s) + min(s)"), 32);
  EXPECT_EQ(threads(f16, "37137", "1024", "y = sum(x)"), 64);
  EXPECT_EQ(threads(bf16, "319902", "500", "y = argmax(x + 0.25)"), 32);
}

// 1002/117 of the sweep: 108 us by 64 threads, 92 by 32 that load all at once.
TEST(Rows, OfPlacesHaveFewThreadsThatLoadAllAtOnce) {
  Fused op = test::make_op(
      f32, {{"x", "(126752,513):(513,1)"}, {"y", "126752:1"}, {"z", "(126752,1):(1,0)"}},
      "y = argmax(x); z = max(x)");
  op.tensors[1].dtype = i64;
  op.axis = {1};
  const Plan plan = plan_of(op);
  EXPECT_EQ(rows_of(plan)->row_threads, 32);
  EXPECT_EQ(rows_of(plan)->register_vectors, 5) << "129 vectors";
}

// 1902/38 of the sweep, 375 f32 at odd addresses: 84 us by 4 elements under way, 63 by 8.
TEST(Rows, ByElementsHaveAsManyUnderWayAsAccessesAreNarrow) {
  const auto unroll = [](DType dtype, const std::string& x, const char* formula) {
    Fused op = test::make_op(dtype, {{"x", x}, {"y", "119936:1"}}, formula);
    op.axis = {1};
    return plan_of(op).unroll;
  };
  EXPECT_EQ(unroll(f32, "(119936,375):(750,2)", "y = max(sqrt(abs(x)))"), 8);
  EXPECT_EQ(unroll(bf16, "(119936,375):(750,2)", "y = max(x)"), 8);
  EXPECT_EQ(unroll(f32, "(119936,128):(256,2)", "y = max(x)"), 4) << "no thread has more";
  EXPECT_EQ(unroll(f32, "(119936,1024):(1024,1)", "y = max(x)"), 4) << "enough bytes under way";
}

// 1804/90 of the sweep: 86 us by blocks of 512 threads, one of which has the registers of a
// multiprocessor, 75 by 256.
TEST(Rows, OfLongHeavyFormulasHaveBlocksThatRunInFewRounds) {
  const auto threads = [](const std::string& rows, const char* formula) {
    Fused op =
        test::make_op(f16, {{"x", "(" + rows + ",50257):(50257,1)"}, {"y", rows + ":1"}}, formula);
    op.axis = {1};
    return plan_of(op).threads;
  };
  constexpr const char* kHeavy = "v = sigmoid(erf(x)); y = sum(v * v) + max(v)";
  EXPECT_EQ(threads("812", kHeavy), 256);
  EXPECT_EQ(threads("812", "y = sum(x)"), 512) << "memory takes longer";
  EXPECT_EQ(threads("2112", kHeavy), 512) << "many rounds";
  EXPECT_EQ(threads("200", kHeavy), 512) << "all blocks run at once";
}

// 1504/176 of the sweep, 17 rows of 200: side by side in a cluster of blocks, half of it idle, 1.99
// us.
TEST(Rows, WithShortRunsThatAreTinyHaveBlocksOfTheirOwn) {
  const auto rows = [](const std::string& x, const std::string& y) {
    return *rows_of(plan_of(sum(x, y, {0, 2})));
  };
  EXPECT_FALSE(rows("(40,17,5):(85,5,1)", "(1,17,1):(17,1,1)").abreast);
  EXPECT_EQ(rows("(40,17,5):(85,5,1)", "(1,17,1):(17,1,1)").cluster, 1);
  EXPECT_TRUE(rows("(400,170,5):(850,5,1)", "(1,170,1):(170,1,1)").abreast);
}

TEST(Rows, ThatAreFewAndReadOnceHaveTwoVectorsPerThread) {
  const auto threads = [](const std::string& x, const std::string& y) {
    return rows_of(plan_of(sum(x, y, {1})))->row_threads;
  };
  EXPECT_EQ(threads("(1233,160):(160,1)", "1233:1"), 16);
  EXPECT_EQ(threads("(9000,160):(160,1)", "9000:1"), 8);
}

// 2901/25 of the sweep: 3.51 us by 128 threads, which have more than four loads each, 3.16 by 256.
TEST(Rows, ThatAreFewAndReadOnceHaveMoreThreadsForSeveralInputs) {
  const auto threads = [](const std::string& rows) {
    const std::string layout = "(" + rows + ",3640):(3640,1)";
    Fused op = test::make_op(bf16, {{"x", layout}, {"m", layout}, {"y", rows + ":1"}},
                             "v = where(m, x, 0.0); y = sqrt(sum(v * v))");
    op.tensors[1].dtype = b8;
    op.axis = {1};
    return rows_of(plan_of(op))->row_threads;
  };
  EXPECT_EQ(threads("256"), 256);
  EXPECT_EQ(threads("512"), 128) << "threads enough";
}

// 2901/37 of the sweep, 16 f32: 2.91 us by two threads, whose steps are 32 bytes, 2.65 by four.
TEST(Rows, ThatTwoThreadsShareHaveFourWhileTheDeviceHasRoom) {
  const auto threads = [](const std::string& x, DType dtype = f32) {
    return rows_of(plan_of(softmax(x, dtype)))->row_threads;
  };
  EXPECT_EQ(threads("(19159,16):(16,1)"), 4);
  EXPECT_EQ(threads("(21320,10):(10,1)"), 4) << "by pairs";
  EXPECT_EQ(threads("(40000,16):(16,1)"), 2) << "four would be too many";
  EXPECT_EQ(threads("(19159,64):(64,1)", bf16), 4) << "steps of 64 bytes";
}

// 1501/79 of the sweep: what a thread saves is less than a further exchange takes.
TEST(Rows, ThatAreShortAndFewHaveFewThreads) {
  const auto threads = [](const std::string& x) {
    return rows_of(plan_of(softmax(x, f32)))->row_threads;
  };
  EXPECT_EQ(threads("(79,3):(3,1)"), 1);
  EXPECT_EQ(threads("(79,5):(5,1)"), 2);
  EXPECT_EQ(threads("(79,9):(9,1)"), 4);
  EXPECT_EQ(threads("(79,33):(33,1)"), 32);
  EXPECT_EQ(threads("(79000,3):(3,1)"), 2) << "the device is full";
}

// 2903/171 of the sweep: 3.28 us by 1,992 blocks, which start one after another, 2.33 by half as
// many.
TEST(Rows, ThatAreTinyHaveFewerBlocksThanRunAtOnce) {
  const auto threads = [](const std::string& rows, const std::string& length) {
    return plan_of(logsumexp("(" + rows + "," + length + "):(" + length + ",1)", rows + ":1"))
        .threads;
  };
  EXPECT_EQ(threads("254880", "2"), 256);
  EXPECT_EQ(threads("130000", "2"), 128) << "1,016 blocks";
  EXPECT_EQ(threads("300000", "2"), 512) << "1,172 blocks of a kilobyte";
  EXPECT_EQ(threads("254880", "8"), 128) << "of 2 KB each";
}

// Few blocks wait for each turn of a loop: argmin of 4,904 f32 2.32 us by turns of four, 1.75 at
// once.
TEST(Rows, ThatFewBlocksReadOnceAreLoadedAtOnce) {
  const auto held = [](DType dtype, const std::string& x, const std::string& y) {
    Fused op = sum(x, y, {1});
    op.tensors[0].dtype = dtype;
    return rows_of(plan_of(op))->register_vectors;
  };
  EXPECT_EQ(held(f16, "(96,4765):(4765,1)", "96:1"), 10);
  EXPECT_EQ(held(f32, "(300,4768):(4768,1)", "300:1"), 0) << "blocks wait beside each other";
  EXPECT_EQ(held(f16, "(300,4765):(4765,1)", "300:1"), 3) << "but a loop would ask for ends";
  EXPECT_EQ(held(bf16, "(20,29640):(29640,1)", "20:1"), 8) << "vectors of 8";
  EXPECT_EQ(held(f32, "(20,1536):(1536,1)", "20:1"), 3) << "one turn has less code without a loop";
}

// 2404/106 of the sweep: 4.6 us by 80 blocks in 21 turns, 3.0 by clusters.
TEST(Rows, ThatAreFewAndReadOnceAreSharedByClustersInsteadOfTurns) {
  const auto rows = [](const std::string& count, const std::string& length, const char* formula) {
    Fused op = sum("(" + count + "," + length + "):(" + length + ",1)", count + ":1", {1});
    op.formula = formula;
    return *rows_of(plan_of(op));
  };
  constexpr const char *kHeavy = "y = sum(clamp(x / 6 + 0.5, 0, 1))", *kLight = "y = sum(x)";
  EXPECT_EQ(rows("80", "5245", kHeavy).row_threads, 512);
  EXPECT_EQ(rows("80", "5245", kHeavy).cluster, 2);
  EXPECT_EQ(rows("80", "5245", kHeavy).register_vectors, 0);
  EXPECT_EQ(rows("80", "3245", kHeavy).cluster, 1) << "seven elements a thread, at once";
  EXPECT_EQ(rows("200", "5245", kHeavy).cluster, 1) << "a block for each multiprocessor";
  EXPECT_EQ(rows("40", "5245", kLight).cluster, 1) << "eleven, at once";
  EXPECT_EQ(rows("40", "9001", kLight).cluster, 4) << "a loop";
}

// 2901/190 of the sweep, 16 rows of 87 KB: 4.12 us by blocks, 2.72 by clusters of 8.
TEST(Rows, ThatAreFewAndLongAreSharedByClustersWhoseBlocksReadLess) {
  const auto cluster = [](const std::string& count, const std::string& length) {
    Fused op = sum("(" + count + "," + length + "):(" + length + ",1)", count + ":1", {1});
    op.tensors[0].dtype = f32;
    return rows_of(plan_of(op))->cluster;
  };
  EXPECT_EQ(cluster("16", "30720"), 8);
  EXPECT_EQ(cluster("16", "18432"), 4) << "18 KB each";
  EXPECT_EQ(cluster("40", "30720"), 2) << "four would be 160 blocks";
  EXPECT_EQ(cluster("28", "8192"), 1) << "32 KB";
  EXPECT_EQ(cluster("128", "30720"), 1) << "a block for each multiprocessor";
}

// 2101/158 of the sweep, 72 rows: 86 us by clusters of two, of which some multiprocessors have two
// blocks, 67 by splits; 2104/221, 64 rows: 39.8 us by 128 blocks, 35.0 by 256.
TEST(Rows, ThatAreReadOnceAreSharedByBlocksThatAllMultiprocessorsHave) {
  const auto rows = [](const std::string& count, const std::string& length, const char* formula) {
    Fused op = sum("(" + count + "," + length + "):(" + length + ",1)", count + ":1", {1});
    for (Tensor& tensor : op.tensors) tensor.dtype = f32;
    op.formula = formula;
    return *rows_of(plan_of(op));
  };
  constexpr const char *kHeavy = "y = sum(sin(sin(x)))", *kLight = "y = sum(x)";
  EXPECT_EQ(rows("72", "131200", kHeavy).splits, 7) << "504 blocks, four for each but a few";
  EXPECT_EQ(rows("147", "131200", kHeavy).splits, 3);
  EXPECT_EQ(rows("264", "131200", kHeavy).splits, 1) << "two for each as they are";
  EXPECT_EQ(rows("72", "13120", kHeavy).splits, 1) << "a second kernel takes too long";
  EXPECT_EQ(rows("72", "131200", kLight).splits, 1) << "memory takes longer";
  EXPECT_EQ(rows("64", "131200", kLight).cluster, 4) << "two for each";
  EXPECT_EQ(rows("64", "65600", kLight).cluster, 2) << "they would have two turns";
  EXPECT_EQ(rows("66", "131200", kLight).cluster, 2);
}

// 2404/185 of the sweep, 65 vectors and one more: 8.8 us by three steps of 32 threads, 7.4 by five
// of 16.
TEST(Rows, HaveFewerThreadsIfTheseAreIdleInFewerSteps) {
  const auto threads = [](const std::string& length) {
    Fused op = sum("(11199," + length + "):(" + length + ",1)", "11199:1", {1});
    op.tensors[0].dtype = f32;
    op.tensors[1].dtype = i64;
    op.formula = "y = argmin(sigmoid(x))";
    return rows_of(plan_of(op))->row_threads;
  };
  EXPECT_EQ(threads("257"), 16);
  EXPECT_EQ(threads("369"), 32) << "three steps that are nearly full";
}

// 7 vectors by 4 threads are steps of 64 and 48 bytes, which begin and end within sectors.
TEST(Rows, ThatBeginWithinSectorsAreStoredInFewSteps) {
  const auto threads = [](const std::string& layout, DType dtype, bool stores) {
    Fused op = softmax(layout, dtype);
    if (!stores) op = sum(layout, "200000:1", {1});
    op.tensors[0].dtype = dtype;
    return rows_of(plan_of(op))->row_threads;
  };
  EXPECT_EQ(threads("(200000,12):(12,1)", f32, true), 4);
  EXPECT_EQ(threads("(200000,28):(28,1)", f32, true), 8);
  EXPECT_EQ(threads("(200000,104):(104,1)", f16, true), 8);
  EXPECT_EQ(threads("(200000,24):(24,1)", f32, true), 2);
  EXPECT_EQ(threads("(200000,12):(12,1)", f32, false), 1);
}

// 2401/47 of the sweep: 8 threads, 3 of them idle, took longer to divide than memory takes.
TEST(Rows, ThatBeginWithinSectorsHaveNoIdleThreadsIfTheseTakeLongerThanMemory) {
  const auto threads = [](const std::string& rows, const char* formula,
                          const std::string& pitch = "40") {
    const std::string layout = "(" + rows + ",40):(" + pitch + ",1)";
    Fused op = test::make_op(bf16, {{"x", layout}, {"y", layout}}, formula);
    op.axis = {1};
    return rows_of(plan_of(op))->row_threads;
  };
  constexpr const char* kDivides = "v = 1 / (abs(x) + 1); y = v / (mean(abs(v)) + 1)";
  EXPECT_EQ(threads("264708", kDivides), 4);
  EXPECT_EQ(threads("264708", "y = x - mean(x)"), 8) << "light";
  EXPECT_EQ(threads("40000", kDivides), 8) << "the device has few threads";
  EXPECT_EQ(threads("264708", kDivides, "48"), 8) << "parts of other rows' sectors";
}

// 2104/64 of the sweep: 2.88 us by 4 threads that hold three vectors each, 2.60 by 8.
TEST(Rows, OfADeviceWithFewThreadsHaveTwoVectorsPerThread) {
  const auto threads = [](const std::string& layout, DType dtype) {
    Fused op = softmax(layout, dtype);
    op.tensors[0].dtype = dtype;
    return rows_of(plan_of(op))->row_threads;
  };
  EXPECT_EQ(threads("(5868,96):(96,1)", bf16), 8);
  EXPECT_EQ(threads("(58680,96):(96,1)", bf16), 4) << "the device is full";
}

TEST(Rows, OfWordsAreNotPeeledIfAnInputWouldBeShifted) {
  const auto peels = [](const std::string& z) {
    Fused op = test::make_op(f32, {{"x", "(1990,1025):(1025,1)"}, {"z", z}, {"y", "1990:1"}},
                             "y = sum(x * z)");
    op.axis = {1};
    return plan_of(op).peeled;
  };
  EXPECT_TRUE(peels("(1990,1025):(1025,1)"));
  EXPECT_FALSE(peels("(1990,1025):(1026,1)"));
  EXPECT_TRUE(peels("(1990,1025):(0,1)")) << "what all rows share is shifted";
}

TEST(Rows, LieAlongOrAcrossTheContiguousMode) {
  struct Row {
    const char* what;
    const char *x, *y;
    std::vector<int> axis;
    std::size_t first, count;
    const char* extents;  // innermost first
    int vector = 8;       // fewer elements where columns are few
  };
  const Row kRows[] = {
      {"rows", "(64,128):(128,1)", "64:1", {1}, 0, 1, "128 64"},
      {"columns", "(64,128):(128,1)", "128:1", {0}, 1, 1, "128 64", 1},
      {"rows of a transposed matrix", "(64,128):(1,64)", "64:1", {1}, 1, 1, "64 128", 1},
      {"many columns", "(4096,8192):(8192,1)", "8192:1", {0}, 1, 1, "8192 4096"},
      {"everything", "(64,128):(128,1)", "1:0", {0, 1}, 0, 1, "8192"},
      {"the middle", "(4,64,128):(8192,128,1)", "(4,128):(128,1)", {1}, 2, 1, "128 4 64", 1},
      {"all but the middle", "(4,64,128):(8192,128,1)", "64:1", {0, 2}, 0, 2, "128 4 64"},
      {"two at the end", "(4,64,128):(8192,128,1)", "4:1", {1, 2}, 0, 1, "8192 4"},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.what);
    const Plan plan = plan_of(sum(row.x, row.y, row.axis));
    ASSERT_TRUE(rows_of(plan) != nullptr);
    EXPECT_EQ(rows_of(plan)->first, row.first);
    EXPECT_EQ(rows_of(plan)->count, row.count);
    EXPECT_TRUE(plan.operands[1].per_row);
    EXPECT_EQ(plan.vector, row.vector);
    EXPECT_EQ(extents_of(plan), row.extents);
  }
}

TEST(Rows, OfClustersAreLoadedAhead) {
  constexpr Target kBlackwell{.major = 12, .minor = 0};
  const char* const kX = "(1024,131072):(131072,1)";
  const auto weighted = [&](int weights, DType type) {
    Fused op{.name = "norm", .tensors = {{"x", bf16, kX}}, .formula = "y = x * rsqrt(mean(x * x))"};
    for (int i = 0; i < weights; ++i) {
      const std::string w = "w" + std::to_string(i);
      op.tensors.push_back({w, type, "131072:1"});
      op.formula += " * " + w;
    }
    op.tensors.push_back({"y", bf16, kX});
    return op;
  };
  struct Row {
    const char* what;
    Fused op;
    Target target;
    int row_threads;
    bool ahead;
    int shared_bytes;
  };
  const Row kRows[] = {
      {"alone on a multiprocessor", softmax(kX), kHopper, 512, true, 114 * 1024},
      {"weights are kept", weighted(5, bf16), kHopper, 512, true, 5 * 32768},
      {"too many to be kept", weighted(7, bf16), kHopper, 512, true, 114 * 1024},
      {"narrower than what is copied", weighted(1, f32), kHopper, 512, true, 114 * 1024},
      {"little shared memory", weighted(3, bf16), kBlackwell, 512, true, 50 * 1024},
      {"large elements", softmax("(2048,65536):(65536,1)", f32), kHopper, 1024, true, 114 * 1024},
      {"peeled", softmax("(1024,100001):(100001,1)"), kHopper, 512, true, 114 * 1024},
      {"narrow accesses", softmax("(1024,50001):(50001,1)", f32), kHopper, 256, false, 0},
      {"too long to be held", softmax("(10,524288):(524288,1)"), kHopper, 1024, false, 0},
      {"no cluster", softmax("(1024,16384):(16384,1)"), kHopper, 512, false, 0},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.what);
    const Plan plan = plan_of(row.op, row.target);
    EXPECT_EQ(rows_of(plan)->row_threads, row.row_threads);
    EXPECT_EQ(rows_of(plan)->ahead, row.ahead);
    EXPECT_EQ(dynamic_shared_bytes(plan), row.shared_bytes);
  }
}

TEST(Rows, HoldWeightsBesideFewVectors) {
  const struct {
    std::int64_t rows, length;
    int row_threads, register_vectors;
    bool loaded;
  } kCases[] = {
      {4096, 16384, 512, 4, false}, {4096, 1024, 64, 2, false}, {128, 1024, 256, 1, true},
      {4, 329, 128, 3, true},       {4, 5268, 512, 3, true},    {300, 5268, 512, 3, true},
      {400, 5268, 512, 3, false},   {700, 1032, 128, 2, true},  {3000, 1032, 64, 3, false}};
  for (const auto& [rows, length, row_threads, register_vectors, loaded] : kCases) {
    SCOPED_TRACE(length);
    const std::string weight = std::to_string(length) + ":1", x = "(" + std::to_string(rows) + "," +
                                                                  std::to_string(length) + "):(" +
                                                                  std::to_string(length) + ",1)";
    const Plan plan =
        plan_of(test::make_op(bf16, {{"x", x}, {"w", weight}, {"b", weight}, {"y", x}},
                              "d = x - mean(x)\ny = d * rsqrt(mean(d * d)) * w + b"));
    EXPECT_EQ(rows_of(plan)->row_threads, row_threads);
    EXPECT_EQ(rows_of(plan)->register_vectors, register_vectors);
    EXPECT_FALSE(plan.operands[0].every_row);
    EXPECT_TRUE(is_loaded_with_row(plan, *rows_of(plan), plan.operands[0]));
    for (const int weights : {1, 2}) {
      const Operand& operand = plan.operands[static_cast<std::size_t>(weights)];
      EXPECT_TRUE(operand.every_row);
      EXPECT_EQ(is_loaded_with_row(plan, *rows_of(plan), operand), loaded);
    }
  }
}

TEST(Rows, OfHeavyFormulasAreNotHeld) {
  std::string formula = "y = x / sum(x";
  for (int i = 0; i < 20; ++i) formula += " + pow(x, x + " + std::to_string(i) + ".5)";
  const char* const kX = "(4096,16384):(16384,1)";
  const Plan plan = plan_of(test::make_op(bf16, {{"x", kX}, {"y", kX}}, formula + ")"));
  EXPECT_EQ(rows_of(plan)->register_vectors, 0)
      << "every vector held repeats the formula in the code";
  EXPECT_LE(plan.unroll, 2);
}

TEST(Rows, HonourTuning) {
  Fused op = softmax("(8192,1024):(1024,1)");
  op.tuning.threads = 256;
  EXPECT_EQ(plan_of(op).threads, 256);
  EXPECT_EQ(rows_of(plan_of(op))->row_threads, 64);
  op = softmax("(4096,16384):(16384,1)");
  op.tuning.threads = 256;
  try {
    (void)plan_of(op);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_spec);
    EXPECT_EQ(error.where(), "/tuning/threads");
  }
  op.tuning = {.tile = {{64, 64}}};
  EXPECT_THROW((void)plan_of(op), Error) << "rows have no tiles";
}

TEST(Plan, PlacesKeepTheModesTheyNeedApart) {
  struct Row {
    const char* formula;
    const char* extents;
    std::vector<std::string> places;  // one per mode, innermost first
  };
  const Row kRows[] = {
      {"y = f32(iota(1)) + x", "128 64", {"128:1", "64:0"}},
      {"y = f32(iota(0)) + x", "128 64", {"128:0", "64:1"}},
      {"y = x + 0 * f32(argmax(x, axis=(0, 1)))", "8192", {"8192:1"}},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.formula);
    const char* const kX = "(64,128):(128,1)";
    const Plan plan = plan_of(test::make_op(f32, {{"x", kX}, {"y", kX}}, row.formula));
    EXPECT_EQ(extents_of(plan), row.extents);
    ASSERT_EQ(plan.places.size(), 1U);
    std::vector<std::string> modes;
    for (const OperandMode& mode : plan.places[0].modes) {
      ASSERT_EQ(mode.size(), 1U);
      modes.push_back(to_string(mode[0].extent) + ":" + to_string(mode[0].stride));
    }
    EXPECT_EQ(modes, row.places);
  }
}

// 1501/26: 69.9 us by clusters of two blocks of 256 threads.
TEST(Rows, AbreastHaveLargerBlocksBeforeClusters) {
  Fused op = test::make_op(f16, {{"x", "(268,4095,9)"}, {"y", "(268,4095,9)"}},
                           "y = x / (sqrt(sum(x * x)) + 1)");
  op.axis = {0, 2};
  const Plan plan = plan_of(op);
  EXPECT_EQ(rows_of(plan)->cluster, 1);
  EXPECT_EQ(plan.threads, 512);
}

// 2803/165: 888 instructions and 56 registers of a thread that loops, 576 and 40.
TEST(Rows, ThatArePeeledAreHeldInsteadOfReadByLoops) {
  const auto held = [](const char* x) {
    Fused op = test::make_op(f16, {{"x", x}, {"y", "6908:1"}}, "y = argmin(x)");
    op.tensors[1].dtype = i64;
    op.axis = {1};
    return rows_of(plan_of(op))->register_vectors;
  };
  EXPECT_EQ(held("(6908,1023):(1023,1)"), 5);
  EXPECT_EQ(held("(6908,1536):(1536,1)"), 0) << "no vector has an end";
}

// 2902/191 and 2804/33 of the sweep: 12.8 and 7.7 us by three steps of vectors of 8, 10.8 and 6.8
// by five of 4; 2903/97, whose steps would have as many elements, 5.0 and 5.6; 3009/212, whose
// weights would be shifted twice as often, 36.0 and 41.3.
TEST(Rows, ThatArePeeledHaveShorterVectorsIfTheseFillTheirSteps) {
  const RowOfThreads kRows[] = {
      {kLayernorm, f16, "(2562,4097):(4097,1)", 256, 3, 8},
      {"y = x / (sum(x * x) + 1)", bf16, "(101712,513):(513,1)", 32, 5, 4},
      {"y = x * rsqrt(mean(x * x) + 1e-5) * w", bf16, "(10275,201):(201,1)", 8, 4, 8},
      {kSoftmax, f32, "(10000,1025):(1025,1)", 256, 5, 1},
  };
  expect_threads(kRows);
}

// 2804/33: 584 instructions of a thread that asked for both ends of the row in each of its vectors.
TEST(Rows, ThatArePeeledEndBehindTheirFirstVectors) {
  const auto inner = [](const char* x, const char* y, const char* formula) {
    Fused op = test::make_op(f16, {{"x", x}, {"y", y}}, formula);
    op.axis = {1};
    return inner_vectors(plan_of(op));
  };
  const char* const kVariance = "y = var(1 / (abs(x) + 1))";
  EXPECT_EQ(inner("(7945,513):(513,1)", "7945:1", kVariance), 128) << "four steps of a warp";
  EXPECT_EQ(inner("(7945,511):(511,1)", "7945:1", kVariance), 96) << "vector 127 may have an end";
  EXPECT_EQ(inner("(7945,512):(512,1)", "7945:1", kVariance), 0) << "not peeled";
  EXPECT_EQ(inner("(690,50257):(50257,1)", "690:1", "y = max(x)"), 0) << "not held";
  const char* const kLong = "(2048,50257):(50257,1)";
  EXPECT_EQ(inner(kLong, kLong, "y = x * rsqrt(mean(x * x))"), 0) << "the next row is under way";
}

// 2933/6 of the sweep: 179 us by blocks of 1024 threads, which spill registers, 101 by clusters.
TEST(Rows, OfSeveralModesThatShiftWeightsHaveTheRegistersOfSmallerBlocks) {
  const auto shape = [](const char* weights) {
    Fused op = test::make_op(f16,
                             {{"x", "(1056,257,145):(37265,145,1)"},
                              {"w", weights},
                              {"y", "(1056,257,145):(37265,145,1)"}},
                             "y = x * w / (max(abs(x * w)) + 1)");
    op.axis = {1, 2};
    const Plan plan = plan_of(op);
    return std::tuple(plan.peeled, rows_of(plan)->row_threads, rows_of(plan)->cluster);
  };
  EXPECT_EQ(shape("(1,1,145):(0,0,1)"), std::tuple(true, 512, 2));
  EXPECT_EQ(shape("(1,1,1):(0,0,0)"), std::tuple(true, 1024, 1)) << "nothing is shifted";
}

}  // namespace
}  // namespace tilejit::plan
