// How columns are planned: rows whose vectors lie across, so that each element is another row's.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tuple>

#include "plan/plans.hpp"
#include "plan/sectors.hpp"
#include "rows/row_shape.hpp"
#include "rows/rows.hpp"
#include "support/specs.hpp"

namespace tilejit::plan {
namespace {

Fused over_middle(DType dtype, const std::string& x, const std::string& y, const char* formula) {
  Fused op = test::make_op(dtype, {{"x", x}, {"y", y}}, formula);
  op.axis = {1};
  return op;
}

/// The plan of `formula`, which reduces the columns of a matrix.
Plan plan_of_columns(DType dtype, int rows, int columns, const char* formula) {
  return plan_of(over_middle(dtype, fmt::format("(1,{0},{1}):(1,{1},1)", rows, columns),
                             fmt::format("(1,1,{0}):(1,{0},1)", columns), formula));
}

Plan sum(DType dtype, const std::string& x, const std::string& y) {
  return plan_of(over_middle(dtype, x, y, "y = sum(x)"));
}

Plan softmax(DType dtype, const std::string& x, const std::string& y) {
  return plan_of(over_middle(dtype, x, y, "e = exp(x - max(x)); y = e / sum(e)"));
}

bool is_shifted(const Plan& plan) {
  return plan.operands[0].shifted;
}

TEST(Columns, HaveVectorsThatLeaveRoomForThreads) {
  EXPECT_EQ(sum(bf16, "(16,2048,4096):(8388608,4096,1)", "(16,1,4096):(4096,4096,1)").vector, 8);
  EXPECT_EQ(sum(f16, "(48,128,64):(8192,64,1)", "(48,1,64):(64,64,1)").vector, 1);
  EXPECT_EQ(sum(f32, "(32915,6,12):(72,12,1)", "(32915,1,12):(12,12,1)").vector, 2);
  EXPECT_EQ(softmax(bf16, "(120,20,640):(12800,640,1)", "(120,20,640):(12800,640,1)").vector, 2);
}

// 2911/30 of the sweep: a loop would wait for weights before it loads its first batch.
// 2912/148: 3.08 us by two batches, 2.56 by one.
TEST(Columns, OfOneBatchAreHeld) {
  const auto held = [](int rows, int columns) {
    return rows_of(plan_of_columns(f16, rows, columns, "y = sum(x)"))->register_vectors;
  };
  EXPECT_EQ(held(20, 15), 3);
  EXPECT_EQ(held(64, 11520), 8);
  EXPECT_EQ(held(2000, 15), 0);
}

TEST(Columns, AreNotTakenForRowsIfTheirElementsLieApart) {
  const auto along = [](const std::string& x) {
    return rows_of(sum(bf16, x, "(1,1,768):(768,768,1)"))->along();
  };
  EXPECT_FALSE(along("(1,7272,768):(11169792,1536,2)"));
  EXPECT_FALSE(along("(1,7272,768):(1,2304,3)")) << "every third";
  EXPECT_TRUE(along("(1,7272,768):(11169792,2,14544)"));
  EXPECT_TRUE(along("(1,7272,768):(11169792,2,3)")) << "as far";
}

TEST(Columns, AreTinyRowsWhoseElementsLieApart) {
  const auto vector_of = [](DType dtype, const std::string& x, const char* count) {
    Fused op = test::make_op(dtype, {{"x", x}, {"y", fmt::format("({0},1):(1,{0})", count)}},
                             "y = sum(x)");
    op.axis = {1};
    const Plan plan = plan_of(op);
    return rows_of(plan)->along() ? 0 : plan.vector;
  };
  EXPECT_EQ(vector_of(i8, "(65716224,2):(4,2)", "65716224"), 4);
  EXPECT_EQ(vector_of(i8, "(1000000,2):(4,2)", "1000000"), 2) << "as many as threads at once";
  EXPECT_EQ(vector_of(f16, "(3145728,2):(4,2)", "3145728"), 2);
  EXPECT_EQ(vector_of(f16, "(6310000,5):(10,2)", "6310000"), 0) << "rows of 20 bytes";
  EXPECT_EQ(vector_of(i8, "(65716224,2):(5,2)", "65716224"), 0) << "rows that lie apart";
  EXPECT_EQ(vector_of(i8, "(100000,2):(4,2)", "100000"), 0) << "few rows";
  Fused op = test::make_op(f16, {{"x", "(4000000,2):(4,2)"}, {"y", "(4000000,2):(2,1)"}},
                           "y = x / sum(x)");
  op.axis = {1};
  EXPECT_TRUE(rows_of(plan_of(op))->along()) << "outputs along rows";
}

TEST(Columns, OfWideAccumulatorsHaveNarrowVectors) {
  Fused places = test::make_op(bf16, {{"x", "(1,19080,4096):(78151680,4096,1)"}}, "y = argmin(x)");
  places.axis = {1};
  places.tensors.push_back({.name = "y", .dtype = i64, .layout = "(1,1,4096):(4096,4096,1)"});
  EXPECT_EQ(plan_of(places).vector, 4) << "the results' eight bytes do not decide";
}

TEST(Columns, OddOnesAreShiftedIfTheyAreReadOnceAndLong) {
  const Plan long_ones = sum(f16, "(16,2048,4095):(8386560,4095,1)", "(16,1,4095):(4095,4095,1)");
  EXPECT_TRUE(is_shifted(long_ones));
  const Plan short_ones = sum(f32, "(60,4,55559):(222236,55559,1)", "(60,1,55559):(55559,55559,1)");
  EXPECT_FALSE(is_shifted(short_ones));
  EXPECT_EQ(short_ones.vector, 1);
  EXPECT_GE(short_ones.threads, 512) << "blocks of few bytes start too slowly";
  EXPECT_FALSE(is_shifted(
      softmax(bf16, "(1,7,171403):(1199821,171403,1)", "(1,7,171403):(1199821,171403,1)")));
}

// 1002/30 of the sweep, 178 bytes: 16.8 us by elements, 14.9 by vectors of four.
TEST(Columns, OddShortOnesOfNarrowElementsAreShiftedByFewThreads) {
  const Plan plan = sum(u8, "(1,178,110247):(19623966,110247,1)", "(1,1,110247):(110247,110247,1)");
  EXPECT_TRUE(is_shifted(plan));
  EXPECT_EQ(plan.vector, 4);
  EXPECT_EQ(rows_of(plan)->row_threads, 8);
  EXPECT_EQ(plan.threads, 256);
  EXPECT_FALSE(
      is_shifted(sum(f32, "(1,178,110247):(19623966,110247,1)", "(1,1,110247):(110247,110247,1)")));
  EXPECT_FALSE(is_shifted(sum(f16, "(1,40,110247):(4409880,110247,1)", "(1,1,110247):(1,1,1)")));
}

// 1102/56 of the sweep: by 16 threads a column, the device had twice the threads that are resident.
TEST(Columns, OddShortOnesAreSharedUntilTheDeviceIsFull) {
  const auto shape = [](const std::string& outer) {
    const Plan plan = sum(bf16, "(" + outer + ",108,2047):(221076,2047,1)",
                          "(" + outer + ",1,2047):(2047,2047,1)");
    return std::pair(rows_of(plan)->row_threads, plan.threads);
  };
  EXPECT_EQ(shape("35"), std::pair(8, 256));
  EXPECT_EQ(shape("70"), std::pair(4, 256));
  EXPECT_EQ(shape("16").second, 512) << "not even by 8 elements a thread";
}

// 1305/102 of the sweep, 8 columns: three threads of four had none.
TEST(Columns, OfOneVectorHaveAllThreadsOfABlock) {
  const Plan plan = plan_of(test::make_op(f16, {{"x", "(25248,2):(2,1)"}, {"y", "(25248,2):(2,1)"}},
                                          "y = x / max(abs(x), axis=0)"));
  EXPECT_EQ(plan.vector, 2);
  EXPECT_EQ(rows_of(plan)->row_threads, plan.threads);
}

// 1305/102 of the sweep, 8 columns of 38,232: 29 us by clusters that read them again, 6.9 held.
TEST(Columns, ThatAreFewAndLongAreHeldByClusters) {
  const auto softmax_of = [](const std::string& length, const std::string& columns) {
    const std::string x = "(1," + length + "," + columns + "):(1," + columns + ",1)";
    return softmax(f16, x, x);
  };
  const Plan few = softmax_of("38232", "8");
  EXPECT_EQ(few.vector, 4);
  EXPECT_EQ(rows_of(few)->row_threads * rows_of(few)->cluster, 8 * 512);
  EXPECT_EQ(rows_of(few)->register_vectors, 10);
  EXPECT_TRUE(rows_of(softmax_of("38232", "64")) == nullptr ||
              rows_of(softmax_of("38232", "64"))->register_vectors == 0);
}

// 1303/188 of the sweep: 17.1 us by vectors of eight, 10.1 by four.
TEST(Columns, OfHeavyFormulasHaveShortShiftedVectors) {
  const auto norm = [](const char* formula, int columns) {
    return plan_of_columns(f16, 4762, columns, formula).vector;
  };
  EXPECT_EQ(norm("v = silu(x); y = sum(v * v)", 1285), 4);
  EXPECT_EQ(norm("y = sum(x * x)", 1285), 8);
  EXPECT_EQ(norm("v = silu(x); y = sum(v * v)", 5661), 8) << "strips for all multiprocessors";
}

// 1308/133 of the sweep: 14.9 us by two threads, 10.7 by one.
TEST(Columns, OfSingleElementsOfSeveralInputsThatAThreadHoldsHaveOneThread) {
  const auto threads = [](const std::string& length, const char* formula) {
    const std::string x = "(1," + length + ",212359):(1,212359,1)";
    Fused op = test::make_op(bf16, {{"x", x}, {"w", x}, {"y", x}}, formula);
    op.axis = {1};
    return rows_of(plan_of(op))->row_threads;
  };
  constexpr const char* kTwo = "v = x + w; e = exp(v - max(v)); y = e / sum(e)";
  EXPECT_EQ(threads("19", kTwo), 1);
  EXPECT_GT(threads("64", kTwo), 1);
}

// 1305/19 of the sweep: 54 us in strips of 64 bytes, 41 by a kernel a pass.
TEST(Columns, InStripsBelowALineAreReadByAKernelAPass) {
  const auto template_of = [](const std::string& length) {
    const std::string x = "(" + length + ",256):(512,1)";
    return template_name(
        plan_of(test::make_op(f32, {{"x", x}, {"y", x}},
                              "d = x - mean(x, axis=0); y = d * rsqrt(var(x, axis=0) + 0.00001)")));
  };
  EXPECT_EQ(template_of("29635"), "fused_parts");
  EXPECT_EQ(template_of("9635"), "fused_rows") << "a second kernel takes longer";
}

// 1308/40 of the sweep: 11.2 us by 338 blocks of 512 threads, 8.2 by as many of 256.
TEST(Columns, OfAFewMoreBlocksThanRunAtOnceHaveSmallerOnes) {
  const auto threads = [](const std::string& columns) {
    return sum(f32, "(1,310," + columns + "):(1," + columns + ",1)",
               "(1,1," + columns + "):(1,1,1)")
        .threads;
  };
  EXPECT_EQ(threads("10800"), 256);
  EXPECT_EQ(threads("8192"), 512);
}

// 2107/223 of the sweep: 173 blocks of 512 threads 28.5 us, 345 of 256 19.4.
TEST(Columns, MayHaveStripsOfLessThanASectorOfTheNarrowestInput) {
  const auto threads = [](DType dtype) {
    Fused op = test::make_op(f16,
                             {{"x", "(69,2047,77):(157619,77,1)"},
                              {"m", "(69,2047,77):(157619,77,1)"},
                              {"y", "(69,1,77):(77,77,1)"},
                              {"z", "(69,1,77):(77,77,1)"}},
                             "v = where(m, x, 0.0); y = max(v); z = sum(v)");
    op.axis = {1};
    op.tensors[0].dtype = dtype;
    op.tensors[1].dtype = b8;
    return plan_of(op).threads;
  };
  EXPECT_EQ(threads(f16), 256) << "a sector of f16 and half of one of bytes";
  EXPECT_EQ(threads(f32), 512) << "smaller batches may make one turn";
}

// A second kernel takes longer than the blocks of a cluster wait for each other.
TEST(Columns, ThatFewBlocksShareHaveAClusterNotASecondKernel) {
  const auto shared = [](const std::string& length) {
    return *rows_of(sum(f16, "(1," + length + ",12):(1,12,1)", "(1,1,12):(12,12,1)"));
  };
  EXPECT_EQ(shared("986").splits, 1);
  EXPECT_EQ(shared("986").cluster, 8);
  EXPECT_EQ(shared("9860").cluster, 1);
  EXPECT_GT(shared("9860").splits, 8);
}

// 16 blocks, of 1,024 threads each, held 99 columns of 2,282 f32.
TEST(Columns, ThatAreHeldInNarrowStripsHaveMoreThreads) {
  const std::string x = "(1,2282,99):(225918,99,1)";
  const Plan plan = softmax(f32, x, x);
  EXPECT_EQ(rows_of(plan)->cluster, 8);
  EXPECT_EQ(rows_of(plan)->row_threads, 64);
  EXPECT_EQ(strip_of(plan), 8) << "104 blocks";
}

// 1003/106 of the sweep: blocks of four bf16 side by side loaded quarters of sectors.
TEST(Columns, ThatAreReadOnceFillSectorsSideBySide) {
  const auto strip = [](const std::string& x, const std::string& y) {
    return strip_of(sum(bf16, x, y));
  };
  EXPECT_EQ(strip("(1,145528,77):(11205656,77,1)", "(1,1,77):(77,77,1)"), 32);
  EXPECT_EQ(strip("(1,145528,3):(436584,3,1)", "(1,1,3):(3,3,1)"), 4) << "there are no more";
}

// 1803/246 of the sweep, 184 of 64 f16: 2.16 us by 4 blocks of 512 threads, 1.86 by 16 of 128.
TEST(Columns, ThatFewBlocksHoldHaveNarrowStripsInSmallBlocks) {
  const auto shape = [](int columns) {
    const std::string x = fmt::format("(1,184,{0}):(1,{0},1)", columns);
    const Plan plan = softmax(f16, x, x);
    return std::pair(static_cast<int>(strip_of(plan)), plan.threads);
  };
  EXPECT_EQ(shape(64), std::pair(4, 128));
  EXPECT_EQ(shape(2048), std::pair(16, 256)) << "blocks for most multiprocessors";
}

// 1001/148 of the sweep: 3.26 us by one thread a column, 2.25 by two.
TEST(Columns, AreSharedByMoreThreadsWhileTheDeviceIsIdle) {
  const auto shared = [](const std::string& x) {
    return rows_of(softmax(bf16, x, x))->row_threads;
  };
  EXPECT_EQ(shared("(32,8,1024):(8192,1024,1)"), 2);
  EXPECT_EQ(shared("(320,8,1024):(8192,1024,1)"), 1);
}

// 1502/156 of the sweep, 1024 columns of 5: 1.73 us by two threads a column, which meet three
// times.
TEST(Columns, ThatAreShortAndFewHaveAThreadEach) {
  const auto shared = [](const std::string& x, const std::string& y, const char* formula) {
    return rows_of(plan_of(over_middle(f16, x, y, formula)))->row_threads;
  };
  const char* const kVariance = "y = var(1 / (abs(x) + 1))";
  EXPECT_EQ(shared("(1,5,1024):(5120,1024,1)", "(1,1,1024):(1024,1024,1)", kVariance), 1);
  EXPECT_EQ(shared("(1,8,1024):(8192,1024,1)", "(1,1,1024):(1024,1024,1)", kVariance), 1);
  EXPECT_EQ(shared("(1,16,1024):(16384,1024,1)", "(1,1,1024):(1024,1024,1)", kVariance), 4);
  const std::string heavy = "(1,8,1024):(8192,1024,1)";
  EXPECT_EQ(rows_of(softmax(f32, heavy, heavy))->row_threads, 2) << "elements take longer";
}

// 1501/253 of the sweep: rescaling sums whenever threads meet takes 1.95 us, two passes 1.57.
TEST(Columns, ThatAreFewAreHeldForSumsBelowAMaximum) {
  const auto rows = [](const std::string& length, const std::string& columns) {
    return *rows_of(plan_of(
        over_middle(f32, "(1," + length + "," + columns + "):(0," + columns + ",1)",
                    "(1,1," + columns + "):(0,0,1)", "m = max(x); y = m + log(sum(exp(x - m)))")));
  };
  EXPECT_EQ(rows("32", "64").register_vectors, 4);
  EXPECT_EQ(rows("32", "65536").register_vectors, 0);
  EXPECT_EQ(rows("16", "64").row_threads, 1) << "a thread loads all of a column";
}

TEST(Columns, AreSharedByClustersIfFewBlocksHaveFewBytesUnderWay) {
  const Plan few = sum(f16, "(1,1000,2050):(2050000,2050,1)", "(1,1,2050):(2050,2050,1)");
  const Plan many = sum(f16, "(1,1000,3850):(3850000,3850,1)", "(1,1,3850):(3850,3850,1)");
  EXPECT_EQ(rows_of(few)->cluster, 2);
  EXPECT_EQ(rows_of(many)->cluster, 1) << "two blocks a multiprocessor";
}

// In pieces of 4 bytes; vectors of two elements took 1.06 times as long.
TEST(Columns, OfTwoByteElementsWithEvenRowsHaveSplitLoads) {
  const Plan plan = sum(f16, "(1,1000,3850):(3850000,3850,1)", "(1,1,3850):(3850,3850,1)");
  EXPECT_EQ(plan.vector, 4);
  EXPECT_EQ(plan.operands[0].access_bytes, 4);
  EXPECT_FALSE(is_shifted(plan));
}

// Of 128 threads, the device would start all blocks in 500 us.
TEST(Columns, ThatAreShortAndManyHaveLargeBlocks) {
  EXPECT_GE(softmax(bf16, "(7600000,3,7):(27,9,1)", "(7600000,3,7):(27,9,1)").threads, 256);
}

TEST(Columns, OfBytesThatAreLongHaveVectorsOfSixteen) {
  EXPECT_EQ(sum(u8, "(16,2048,4095):(8386560,4095,1)", "(16,1,4095):(4095,4095,1)").vector, 16);
  const auto largest = [](const std::string& x, const std::string& y) {
    return plan_of(over_middle(i8, x, y, "y = max(x)")).vector;
  };
  EXPECT_EQ(largest("(16,2048,4096):(8388608,4096,1)", "(16,1,4096):(4096,4096,1)"), 16);
  EXPECT_EQ(largest("(1,65536,1024):(67108864,1024,1)", "(1,1,1024):(1024,1024,1)"), 8)
      << "few columns are shared by clusters";
  EXPECT_EQ(sum(f16, "(16,2048,4095):(8386560,4095,1)", "(16,1,4095):(4095,4095,1)").vector, 8);
}

// 1802/248 of the sweep: 303 us by two threads, which store a quarter of a line, 217 by eight.
TEST(Columns, BesideEachOtherInFewLinesHaveThreadsForALine) {
  const auto shared = [](const std::string& x) {
    return rows_of(softmax(bf16, x, x))->row_threads;
  };
  EXPECT_EQ(shared("(566160,32,8):(256,8,1)"), 8);
  EXPECT_EQ(shared("(283080,32,16):(512,16,1)"), 2) << "not in 512 bytes";
  EXPECT_EQ(rows_of(softmax(f16, "(141792,8,5):(56,7,1)", "(141792,8,5):(56,7,1)"))->row_threads,
            4);
}

// 5003/236 of the sweep: columns of 27, 1.6 MB apart, 43.8 us by 8 threads each, 34.2 by one.
TEST(Columns, WhoseElementsLieFarApartAreNotNear) {
  Fused op = test::make_op(f32,
                           {{"x", "(27,199485,2):(398970,2,1)"},
                            {"y", "(27,199485,2):(398970,2,1)"},
                            {"w", "(1,199485,1):(0,1,0)"}},
                           "v = x * w; e = exp(v - max(v)); y = e / sum(e)");
  op.axis = {0};
  EXPECT_LE(rows_of(plan_of(op))->row_threads, 2);
}

// 901/52 of the sweep: aligned weights gave odd columns vectors, whose elements were loaded apart.
TEST(Columns, HaveVectorsThatSuitTheirElementsNotTheirWeights) {
  const auto weighted = [](const char* x, const char* y, const char* w) {
    Fused op = test::make_op(f32, {{"x", x}, {"y", y}, {"w", w}}, "y = sum(x * w)");
    op.axis = {1};
    return plan_of(op);
  };
  const Plan odd =
      weighted("(97,11,8191):(90101,8191,1)", "(97,1,8191):(8191,8191,1)", "(8191):(1)");
  EXPECT_EQ(odd.vector, 1);
  EXPECT_EQ(rows_of(odd)->register_vectors, 11);
  const Plan even =
      weighted("(97,11,8192):(90112,8192,1)", "(97,1,8192):(8192,8192,1)", "(8192):(1)");
  EXPECT_EQ(even.vector, 4);
}

// Weights split the columns into modes that follow one another in memory: strips cross them.
TEST(Columns, GoOnFromOneModeToTheNext) {
  const auto strip = [](const char* x, const char* w, DType dtype) {
    Fused op = test::make_op(dtype, {{"x", x}, {"y", x}}, "v = x * w; y = v / sum(v * v)");
    op.axis = {0};
    op.tensors.push_back({.name = "w", .dtype = dtype, .layout = w});
    const Plan plan = plan_of(op);
    return strip_of(plan);
  };
  EXPECT_EQ(strip("(5715,3,1023,3):(9207,3069,3,1)", "(1,1023,1):(1,1,1)", f32), 16);
  EXPECT_EQ(strip("(4097,9,18,7):(1134,126,7,1)", "(18,1):(1,1)", f32), 16);
  EXPECT_EQ(strip("(5715,3,1023,3):(24552,8184,8,1)", "(1,1023,1):(1,1,1)", f32), 4)
      << "columns with gaps";
}

// 2911/64 of the sweep, pairs of f32 40 bytes apart: 110 us by strips of two pairs, 89 by eight.
TEST(Columns, GoOnBehindGapsOfASectorInInputs) {
  const auto groups = [](const char* x) {
    Fused op = test::make_op(f32, {{"x", x}, {"y", "(1,5120,2):(10240,2,1)"}}, "y = max(x)");
    op.axis = {0};
    const Plan plan = plan_of(op);
    return plan.threads / rows_of(plan)->row_threads;
  };
  EXPECT_EQ(groups("(1264,5120,2):(51200,10,1)"), 8);
  EXPECT_EQ(groups("(1264,5120,2):(61440,12,1)"), 2);
}

TEST(Columns, ThatAreShortHaveVectorsOfAtMost16BytesOfAResult) {
  const auto vector_of = [](const char* x, const char* y) {
    Fused op = over_middle(bf16, x, y, "y = argmax(x)");
    op.tensors[1].dtype = i64;
    return plan_of(op).vector;
  };
  EXPECT_EQ(vector_of("(168,2,16384):(32768,16384,1)", "(168,1,16384):(16384,16384,1)"), 2);
  EXPECT_EQ(vector_of("(168,20,16384):(327680,16384,1)", "(168,1,16384):(16384,16384,1)"), 4)
      << "what is read counts more";
}

// 1004/83 of the sweep: 8.7 us with two threads a column, 6.8 with four.
TEST(Columns, OfSingleNarrowElementsAreSharedByAsManyThreadsAsHaveRegisters) {
  const auto threads_of = [](DType dtype, const char* x) {
    return rows_of(softmax(dtype, x, x))->row_threads;
  };
  EXPECT_EQ(threads_of(bf16, "(285,31,333):(10323,333,1)"), 4);
  EXPECT_EQ(threads_of(f32, "(285,31,333):(10323,333,1)"), 2);
}

// Sums of 4 rows of 2778013 bf16: 13.2 us by single elements, 11.3 shifted; of 12 of 300001, 4.8
// and 6.2.
TEST(Columns, ThatAreShortAndOddAreShiftedIfTheyAreVeryMany) {
  const auto is_shifted_in = [](DType dtype, const char* x, const char* y) {
    Fused op = test::make_op(dtype, {{"x", x}, {"y", y}}, "y = max(x)");
    op.axis = {0};
    const Plan plan = plan_of(op);
    EXPECT_EQ(plan.vector, is_shifted(plan) ? 4 : 1);
    return is_shifted(plan);
  };
  EXPECT_TRUE(is_shifted_in(bf16, "(4,2778013):(2778013,1)", "2778013:1"));
  EXPECT_TRUE(is_shifted_in(u8, "(5,4000001):(4000001,1)", "4000001:1"));
  EXPECT_FALSE(is_shifted_in(f16, "(12,300001):(300001,1)", "300001:1"));
  EXPECT_FALSE(is_shifted_in(f32, "(5,2778013):(2778013,1)", "2778013:1"));
  EXPECT_FALSE(is_shifted_in(bf16, "(8,3,1000001):(3000009,1000003,1)", "(3,1000001):(1000001,1)"))
      << "results would be stored one by one";
}

// 1802/107 of the sweep, 3 of f16: 19.9 us by elements, 18.5 by pairs; 2 17.9 and 14.3; 8 9.6 and
// 12.7. 2404/122, 3 of f32: 82.7 and 76.0; 2 57.0 and 50.2, 4 81.9 and 82.
TEST(Columns, OfFewBytesThatAreOddAreShiftedByPairs) {
  const auto plan_of_rows = [](DType dtype, const std::string& rows, const std::string& matrices) {
    return sum(dtype, "(" + matrices + "," + rows + ",4351):(34808,4351,1)",
               "(" + matrices + ",1,4351):(4351,4351,1)");
  };
  const Plan plan = plan_of_rows(f16, "3", "980");
  EXPECT_EQ(plan.vector, 2);
  EXPECT_TRUE(is_shifted(plan));
  EXPECT_EQ(plan.threads, 256);
  EXPECT_EQ(plan_of_rows(f16, "8", "980").vector, 1);
  EXPECT_EQ(plan_of_rows(f32, "3", "980").vector, 2);
  EXPECT_EQ(plan_of_rows(f32, "4", "980").vector, 1);
  EXPECT_EQ(plan_of_rows(u8, "3", "980").vector, 1) << "pairs of bytes are no words";
  EXPECT_EQ(plan_of_rows(f16, "3", "98").vector, 1) << "threads would not fill the device twice";
}

// 2912/137 of the sweep, 3 of f16: 636 us by pairs, of which a thread has six elements, 528 by
// four.
TEST(Columns, OfFewBytesAndHeavyFormulasAreShiftedByFour) {
  const auto vector_of = [](DType dtype, const char* formula) {
    Fused op = test::make_op(
        dtype,
        {{"x", "(1243,3,100003):(300009,100003,1)"}, {"y", "(1243,1,100003):(100003,100003,1)"}},
        formula);
    op.axis = {1};
    return plan_of(op).vector;
  };
  EXPECT_EQ(vector_of(f16, "y = min(sin(x))"), 4);
  EXPECT_EQ(vector_of(f16, "y = min(x)"), 2);
  EXPECT_EQ(vector_of(f32, "y = min(sin(x))"), 2);
}

// 813/53 of the sweep: 350 us with eight threads a column, 126 with one.
TEST(Columns, ThatAreShortAndVeryManyAreSharedByFewThreads) {
  const auto threads_of = [](const std::string& x, const std::string& y) {
    Fused op = over_middle(i8, x, y, "y = sum(i32(x))");
    op.tensors[1].dtype = i32;
    return rows_of(plan_of(op))->row_threads;
  };
  EXPECT_EQ(threads_of("(1406,17,6229):(105893,6229,1)", "(1406,1,6229):(6229,6229,1)"), 1);
  EXPECT_EQ(threads_of("(14,17,6229):(105893,6229,1)", "(14,1,6229):(6229,6229,1)"), 2);
  EXPECT_EQ(threads_of("(10,17,6229):(105893,6229,1)", "(10,1,6229):(6229,6229,1)"), 4);
}

// 2102/223 of the sweep, 5 columns side by side: 33.0 us in strips of 16, 31.6 of 8.
TEST(Columns, OfShortRunsHaveNoWiderStrips) {
  const auto strip = [](const char* x, const char* y) { return strip_of(sum(f32, x, y)); };
  EXPECT_EQ(strip("(418,6683,5):(33415,5,1)", "(418,1,5):(5,5,1)"), 8);
  EXPECT_EQ(strip("(418,6683,50):(334150,50,1)", "(418,1,50):(50,50,1)"), 32);
}

// 1901/36 of the sweep: 52.5 us by 8 threads a column, 42.6 by two; 1803/144 276 by 16, 253 by
// four.
TEST(Columns, ThatAreVeryManyAreSharedByFewThreadsUntilTheseHaveManyElements) {
  const auto threads_of = [](int length, int columns) {
    return rows_of(plan_of_columns(bf16, length, columns, "y = argmax(x)"))->row_threads;
  };
  EXPECT_EQ(threads_of(267, 1 << 20), 4);
  EXPECT_EQ(threads_of(131, 1 << 20), 2);
  EXPECT_EQ(threads_of(120, 1 << 20), 2) << "one alone has no more than 16";
  EXPECT_EQ(threads_of(267, 1 << 15), 16) << "threads for the device";
}

// 2104/118 of the sweep: 2.2 us by 9 blocks, 1.7 by 36 of 4 columns.
TEST(Columns, ThatAreFewAndShortHaveNarrowStrips) {
  const auto strip = [](int length, int columns) {
    return strip_of(plan_of_columns(bf16, length, columns, "y = max(x)"));
  };
  EXPECT_EQ(strip(227, 140), 4);
  EXPECT_EQ(strip(400, 60), 16) << "which a cluster shares";
  EXPECT_EQ(strip(227, 280), 16) << "more elements";
}

// 413/5 of the sweep: 213 us by one kernel, whose clusters have few bytes under way, 58 by two.
TEST(Columns, OfFewBytesUnderWayAreReadByAKernelAPass) {
  const auto is_split = [](DType dtype, const std::string& x) {
    return std::holds_alternative<Several>(softmax(dtype, x, x).family);
  };
  EXPECT_TRUE(is_split(bf16, "(1,16873,867):(1,867,1)"));
  EXPECT_TRUE(is_split(bf16, "(1,16873,8192):(1,8192,1)")) << "loops wait for each batch";
  EXPECT_FALSE(is_split(bf16, "(1,2048,867):(1,867,1)")) << "held";
}

// 1001/129 of the sweep: 748 us by a kernel whose strips have four columns, 199 by two kernels.
TEST(Columns, WhoseStripsWouldCutSectorsAreReadByAKernelAPass) {
  const auto is_split = [](const std::string& x, const std::string& y) {
    Fused op = test::make_op(bf16, {{"x", x}, {"y", y}}, "e = exp(x - max(x)); y = e / sum(e)");
    op.axis = {0};
    op.tensors[1].dtype = f32;
    return std::holds_alternative<Several>(plan_of(op).family);
  };
  const std::string y = "(33501,513,3):(1539,3,1)";
  EXPECT_TRUE(is_split("(33501,513,3):(1539,1,513)", y));
  EXPECT_FALSE(is_split("(2000,513,3):(1539,1,513)", "(2000,513,3):(1539,3,1)")) << "cached";
  const std::string rows = "(2048,65536):(65536,1)";
  EXPECT_FALSE(is_split(rows, rows)) << "strips of whole sectors";
}

// 1302/136 of the sweep: by two kernels 1172 us, which both read 32 bytes for each run of two
// elements, by one 600. 1303/73 and 1301/130: 2442 and 178 us by one kernel, which stores single
// elements, or accesses runs of 8 bytes; 190 and 46 by two.
TEST(Columns, AreHeldIfKernelsOfOnePassCutAsManySectors) {
  const auto is_split = [](DType dtype, const char* x, const char* y, std::vector<int> axis,
                           const char* formula) {
    Fused op = test::make_op(dtype, {{"x", x}, {"y", y}}, formula);
    op.axis = std::move(axis);
    return std::holds_alternative<Several>(plan_of(op).family);
  };
  EXPECT_FALSE(is_split(bf16, "(262,9442,10,2):(6231720,660,66,1)", "(1,9442,10,2):(0,20,2,1)", {0},
                        "y = var(x)"));
  const char* const kSoftmax = "e = exp(x - max(x)); y = e / sum(e)";
  const char* const rows = "(9124,49,100):(4900,100,1)";
  EXPECT_TRUE(is_split(f16, "(9124,49,100):(1,9124,447076)", rows, {0}, kSoftmax));
  const char* const wide = "(2000,64,128):(8192,128,1)";
  EXPECT_FALSE(is_split(f16, wide, wide, {0}, kSoftmax)) << "strips of whole lines";
  const char* const kScaled = "y = x / mean(abs(x))";
  const char* const pairs = "(38976,128,2):(256,2,1)";
  EXPECT_TRUE(is_split(f32, pairs, pairs, {0, 2}, kScaled));
  const char* const lines = "(1218,128,64):(8192,64,1)";
  EXPECT_FALSE(is_split(f32, lines, lines, {0, 2}, kScaled)) << "runs of whole sectors";
}

// 1305/120 of the sweep: 471 us by lanes that store single elements of rows.
TEST(Columns, TurnOutputsThatLieAlongThem) {
  const auto rows_of_softmax = [](const std::string& x, const std::string& y) {
    Fused op = test::make_op(f32, {{"x", x}, {"y", y}}, "e = exp(x - max(x)); y = e / sum(e)");
    op.axis = {2};
    const Plan plan = plan_of(op);
    const auto* const rows = std::get_if<Rows>(&plan.family);
    return rows == nullptr ? Rows{} : *rows;
  };
  const std::string x = "(267,273,360):(1,267,72891)", y = "(267,273,360):(98280,360,1)";
  EXPECT_EQ(rows_of_softmax(x, y).turned, 12) << "of 23";
  EXPECT_EQ(rows_of_softmax(x, y).row_threads, 16) << "strips of lines";
  EXPECT_EQ(rows_of_softmax(x, "(267,273,360):(1,267,72891)").turned, 0);
  EXPECT_EQ(rows_of_softmax(x, "(267,273,360):(196560,720,2)").turned, 0) << "no neighbours";
  EXPECT_EQ(rows_of_softmax("(67,M,360):(1,67,72891)", "(67,M,360):(98280,360,1)").turned, 0);
}

// 1902/208 of the sweep, 489 bf16: 53 us by strips of lines, 42 by sectors; f32 20,000 x 200: 20.5
// and 13.0; 333 single f32: 95 and 166.
TEST(Columns, WithTurnedOutputsAreSectorsWide) {
  const auto strip = [](DType dtype, int count, int length, bool along) {
    const std::string shape = fmt::format("({},{})", count, length);
    const std::string x = fmt::format(":(1,{})", count), y = fmt::format(":({},1)", length);
    Fused op = test::make_op(dtype, {{"x", shape + x}, {"y", shape + (along ? y : x)}},
                             "e = exp(x - max(x)); y = e / sum(e)");
    op.axis = {1};
    return strip_of(plan_of(op));
  };
  EXPECT_EQ(strip(bf16, 35374, 489, true), 16);
  EXPECT_EQ(strip(bf16, 35376, 489, false), 64);
  EXPECT_EQ(strip(f32, 20000, 200, true), 8 * 2) << "128 threads";
  EXPECT_EQ(strip(f32, 86265, 333, true), 32) << "single elements";
}

// 1804/210 of the sweep: 1.93 us turned, 1.41 by lanes that store single elements. Softmax of 10 in
// 5,200 rows: 2.13 and 1.75, in 26,000 2.40 and 3.49.
TEST(Columns, TurnOutputsIfTheseAreMany) {
  const auto turned = [](DType dtype, int count, int length) {
    const std::string shape = fmt::format("({},{})", count, length);
    Fused op = test::make_op(dtype,
                             {{"x", fmt::format("{}:(1,{})", shape, count)},
                              {"y", fmt::format("{}:({},1)", shape, length)}},
                             "e = exp(x - max(x)); y = e / sum(e)");
    op.axis = {1};
    return rows_of(plan_of(op))->turned;
  };
  EXPECT_EQ(turned(f32, 325, 10), 0);
  EXPECT_EQ(turned(f32, 5200, 10), 0);
  EXPECT_GT(turned(f32, 26000, 10), 0);
  EXPECT_EQ(turned(bf16, 130, 100), 0) << "narrow strips: few lines for each multiprocessor";
  EXPECT_GT(turned(bf16, 2600, 100), 0) << "strips fill the device";
}

// f32 6427 x 2047, column-major (4036/38): 84 us by strips of a sector, 136 turned by clusters;
// f16 22329 x 3182 (4057/77): 1588 us and 262.
TEST(Columns, AreStoredByLanesIfTheseHaveRunsOfLongOnes) {
  const auto rows_of_softmax = [](DType dtype, const std::string& shape, const char* x,
                                  const char* y) {
    Fused op = test::make_op(dtype, {{"x", shape + x}, {"y", shape + y}},
                             "e = exp(x - max(x)); y = e / sum(e)");
    op.axis = {1};
    return *rows_of(plan_of(op));
  };
  const Rows lanes = rows_of_softmax(f32, "(6427,2047):", "(1,6427)", "(2047,1)");
  EXPECT_EQ(lanes.turned, 0);
  EXPECT_EQ(lanes.row_threads, 64) << "strips of a sector";
  EXPECT_GT(rows_of_softmax(f16, "(22329,3182):", "(1,22329)", "(3182,1)").turned, 0);
  EXPECT_GT(rows_of_softmax(f32, "(6427,407):", "(1,6427)", "(407,1)").turned, 0) << "short";
}

// 1301/116 of the sweep: 29.1 us by columns, 11.5 staged.
TEST(Columns, ThatAreShortAreStagedAsRowsOfTheOutput) {
  const auto is_staged = [](const std::string& x, const std::string& y) {
    Fused op = test::make_op(bf16, {{"x", x}, {"y", y}}, "e = exp(x - max(x)); y = e / sum(e)");
    op.axis = {2};
    return std::holds_alternative<StagedRows>(plan_of(op).family);
  };
  const std::string y = "(1023,660,9):(5940,9,1)";
  EXPECT_TRUE(is_staged("(1023,660,9):(660,1,675180)", y));
  EXPECT_FALSE(is_staged("(1023,660,9):(1,1023,675180)", y)) << "neighbours lie far apart";
  EXPECT_FALSE(is_staged("(1023,66,90):(66,1,67518)", "(1023,66,90):(5940,90,1)")) << "long";
}

// 1306/56 of the sweep, 38 vectors side by side: 350 us by strips of 4, 287 of 8, 273 of 16, 268 of
// 32. 1307/173, 30 vectors: 335 us by strips of 8, 297 of 16, 232 of 32.
TEST(Columns, ThatSplitsShareHaveWideStrips) {
  const auto strip = [](DType dtype, const std::string& x, const std::string& y) {
    return strip_of(sum(dtype, x, y));
  };
  EXPECT_EQ(strip(bf16, "(1,1081344,304):(0,304,1)", "(1,1,304):(0,0,1)"), 256);
  EXPECT_EQ(strip(f32, "(1,1069044,120):(0,120,1)", "(1,1,120):(0,0,1)"), 128);
  EXPECT_EQ(strip(f32, "(1,1069044,68):(0,68,1)", "(1,1,68):(0,0,1)"), 32) << "not half empty";
}

// 701/88 of the sweep: 85 us by strips of 64 columns, 64 by sectors of the output.
TEST(Columns, OfInputsWhoseSectorsLieAlongTheRowHaveNarrowStrips) {
  const auto strip = [](const char* x) {
    return strip_of(softmax(bf16, x, "(4,552,8192):(8192,32768,1)"));
  };
  EXPECT_EQ(strip("(4,552,8192):(1,4,2208)"), 16);
  EXPECT_EQ(strip("(4,552,8192):(8192,32768,1)"), 64);
}

// 1003/153 of the sweep: 62 us by strips of 16 columns, 27 by 256.
TEST(Columns, OfInputsWhoseSectorsLieAcrossManyAreAsWideAsThese) {
  const auto strip = [](const char* x, const char* y) {
    Fused op = test::make_op(f16, {{"x", x}, {"y", y}}, "e = exp(x - max(x)); y = e / sum(e)");
    op.axis = {0};
    return strip_of(plan_of(op));
  };
  const char* const y = "(48,4097,5,7):(143395,35,7,1)";
  EXPECT_EQ(strip("(48,4097,5,7):(57358,2,2753184,8194)", y), 256);
  EXPECT_EQ(strip("(48,4097,5,7):(57358,4,2753184,16388)", y), 128) << "4 of a sector";
  EXPECT_LE(strip("(48,4097,5,7):(57358,32,2753184,131104)", y), 128) << "one of a sector";
}

// 1003/186 of the sweep: by two threads side by side, runs of three would be read twice.
TEST(Columns, OfShortRunsAreNotCut) {
  const char* const x = "(2674,480,3):(32160,67,1)";
  Fused op = test::make_op(f32, {{"x", x}, {"y", "(2674,480,3):(1440,3,1)"}}, "y = x / max(x)");
  op.axis = {0};
  EXPECT_EQ(strip_of(plan_of(op)), 4);
}

TEST(Columns, FollowTheOutputIfItLiesInAnotherOrder) {
  const Plan plan = softmax(bf16, "(320,64,33):(1,10560,320)", "(320,64,33):(2112,33,1)");
  EXPECT_EQ(plan.extents.front(), Dim(33));
  EXPECT_EQ(plan.operands[0].reach, Reach::strided);
  EXPECT_EQ(plan.operands[1].reach, Reach::contiguous);
}

// 1901/84 of the sweep: 274 us by strips of 64 columns, 198 by 256; 5010/213, in clusters: 60.3 us
// by strips of 32 columns, 38.0 by 16.
TEST(Columns, ThatBeginWithinSectorsHaveWideStrips) {
  const auto columns = [](int outer, int length, int inner, int pitch) {
    const std::string x =
        fmt::format("({},{},{}):({},{},1)", outer, length, inner, length * pitch, pitch);
    return strip_of(softmax(bf16, x, x));
  };
  EXPECT_EQ(columns(1542, 96, 850, 850), 256);
  EXPECT_EQ(columns(1542, 96, 896, 896), 64) << "whole sectors";
  EXPECT_EQ(columns(1542, 96, 832, 850), 256) << "of memory's rows";
  EXPECT_EQ(columns(142, 96, 850, 850), 64) << "few blocks";
  EXPECT_EQ(columns(23296, 128, 8, 8), 32) << "runs below a line";
  EXPECT_EQ(columns(10, 1296, 850, 850), 32) << "blocks of a cluster wait for each other";
}

// 2701/97 of the sweep, 15 f32: 135 us by one thread a column, 111 by two; but 2403/105, 10
// f16, 1.13 times as long.
TEST(Columns, OfManySingleElementsHaveTwoThreadsOnAFullDevice) {
  const auto threads_of = [](DType dtype, int outer, int length, const char* formula) {
    const std::string x = fmt::format("({0},{1},2047):({2},2047,1)", outer, length, length * 2047);
    return rows_of(plan_of(over_middle(dtype, x, x, formula)))->row_threads;
  };
  const char* const norm = "y = x / (sqrt(sum(x * x)) + 1)";
  EXPECT_EQ(threads_of(f32, 1282, 15, norm), 2);
  EXPECT_EQ(threads_of(f16, 1282, 17, norm), 2);
  EXPECT_EQ(threads_of(f16, 1282, 10, norm), 1);
}

// 2805/45 of the sweep: 299 us by blocks that have a line, 205 by pairs that have two.
TEST(Columns, ThatBeginWithinSectorsAreSharedByPairsOfLargeBlocks) {
  const auto shape_of = [](int length, int columns) {
    const std::string x = fmt::format("(1,{0},{1}):(1,{1},1)", length, columns);
    const Plan plan = plan_of(over_middle(bf16, x, x, "y = x / (sqrt(sum(x * x)) + 1)"));
    return std::tuple(strip_of(plan), rows_of(plan)->row_threads, rows_of(plan)->cluster);
  };
  EXPECT_EQ(shape_of(184, 625311), std::tuple(128, 4, 2));
  EXPECT_EQ(shape_of(184, 625312), std::tuple(64, 16, 1)) << "whole sectors";
  EXPECT_EQ(shape_of(184, 62531), std::tuple(32, 8, 1)) << "few blocks";
  EXPECT_EQ(shape_of(96, 625311), std::tuple(128, 4, 1)) << "room for a wider strip";
}

// 1502/45 of the sweep, f32 5,995 x 5 x 1,025: 149 us by strips of a line, 200 by half as wide
// ones; 5028/21, 440 x 44,784, 103 us by four lines, 75 by one.
TEST(Columns, OfClustersThatBeginWithinSectorsHaveStripsOfALine) {
  EXPECT_EQ(strip_of(softmax(f32, "(1,5995,5125):(1,5125,1)", "(1,5995,5125):(1,5125,1)")), 32);
  EXPECT_EQ(strip_of(softmax(f32, "(1,440,44783):(1,44783,1)", "(1,440,44783):(1,44783,1)")), 32);
}

// 1002/35 of the sweep: 471 us with one block a multiprocessor, 320 with two.
TEST(Columns, ThatBlocksHoldLeaveRoomForASecondBlock) {
  const std::string odd = "(1274,197,513):(101061,513,1)";
  EXPECT_EQ(blocks_at_once(softmax(f16, odd, odd)), 2);
  const std::string few = "(97,11,8191):(90101,8191,1)";
  EXPECT_EQ(blocks_at_once(softmax(f32, few, few)), 1) << "no thread waits for another one";
}

// 1001/28 of the sweep, f16 and a mask: 180 us with 20 vectors of each, which were spilled.
TEST(Columns, OfSeveralNarrowInputsHaveARegisterForEach) {
  Fused op = over_middle(f16, "(3,617,10969):(6767873,10969,1)", "(3,617,10969):(6767873,10969,1)",
                         "e = exp(where(m, x, 0) - max(where(m, x, 0))); y = e / sum(e)");
  op.tensors.push_back({.name = "m", .dtype = b8, .layout = op.tensors[0].layout});
  EXPECT_LE(rows_of(plan_of(op))->register_vectors, 16);
}

// With four, 1.14 to 1.4 times as long.
TEST(Columns, OfNarrowLoadsHaveLargeBatches) {
  const auto range_of = [](const std::string& x, DType dtype = bf16) {
    return plan_of(over_middle(dtype, x, "(912,1,513):(513,513,1)", "y = max(x) - min(x)"));
  };
  EXPECT_EQ(range_of("(912,523,513):(301771,577,1)").unroll, 8);
  EXPECT_EQ(range_of("(912,523,513):(301771,577,1)", f32).unroll, 4) << "enough bytes under way";
  EXPECT_EQ(range_of("(912,36,513):(20772,577,1)").unroll, 4)
      << "of three batches, the last would be nearly empty";
  // 1.11 times as long with eight.
  EXPECT_EQ(sum(bf16, "(912,523,513):(301771,577,1)", "(912,1,513):(513,513,1)").unroll, 4);
  // 1804/59 of the sweep: 51 us with four, 46 with eight.
  EXPECT_EQ(plan_of(over_middle(f16, "(1190,7439,5):(37195,5,1)", "(1190,1,5):(5,5,1)",
                                "v = 1 / (abs(x) + 1); y = sqrt(sum(v * v))"))
                .unroll,
            8)
      << "a division for each element";
}

// 2104/118 of the sweep, 9 blocks: 2.2 us by batches of 6 and 2, 1.9 by two of 4.
TEST(Columns, ThatAreFewHaveBatchesThatAreAboutAsFull) {
  const auto batch = [](int length) {
    const Plan plan = plan_of_columns(bf16, length, 288, "y = max(x)");
    EXPECT_EQ(threads_of_row(*rows_of(plan)), 32);
    return plan.unroll;
  };
  EXPECT_EQ(batch(192), 6) << "one batch";
  EXPECT_EQ(batch(227), 4);
  EXPECT_EQ(batch(191), 4) << "two batches anyway";
  EXPECT_EQ(plan_of_columns(f16, 4134, 256, "y = sum(x)").unroll, 6) << "nine, by five and four";
  EXPECT_EQ(plan_of_columns(f16, 4134, 256, "y = sum(erf(x))").unroll, 5) << "heavy";
}

// 1902/209 of the sweep: batches of four left each multiprocessor one block of 512 threads, of
// which 193 took two turns: 446 us, 338 by batches of two.
TEST(Columns, HaveSmallBatchesIfMoreBlocksThenRunAtOnce) {
  const auto batch = [](int columns) {
    Fused op = over_middle(f32, fmt::format("(1,28250,{0}):(1,{0},1)", columns),
                           fmt::format("(1,1,{0}):(1,{0},1)", columns),
                           "y = sum(where(m, where(x > 0, x, exp(x) - 1), 0.0))");
    op.tensors.push_back({.name = "m", .dtype = b8, .layout = op.tensors[0].layout});
    const Plan plan = plan_of(op);
    EXPECT_TRUE(is_shifted(plan));
    EXPECT_EQ(plan.threads, 512);
    return plan.unroll;
  };
  EXPECT_EQ(batch(6171), 2);
  EXPECT_EQ(batch(4101), 4) << "129 blocks";
  EXPECT_EQ(batch(12341), 4) << "two turns of small batches, too";
}

// 1801/141 of the sweep: 319 blocks, of which 264 run at once, 136 us; 121 by clusters of four.
TEST(Columns, AreSharedByClustersIfTheLastTurnOfBlocksIsMostlyEmpty) {
  const auto cluster = [](int length, int columns) {
    const Plan plan = plan_of_columns(i32, length, columns, "y = min(x)");
    EXPECT_EQ(rows_of(plan)->splits, 1);
    return rows_of(plan)->cluster;
  };
  EXPECT_EQ(cluster(4095, 20367), 4);
  EXPECT_EQ(cluster(4095, 16001), 1) << "one turn";
  EXPECT_EQ(cluster(4095, 31233), 1) << "the second turn is nearly full";
  EXPECT_EQ(cluster(1023, 20367), 1) << "smaller blocks run at once";
}

// 2901/41 of the sweep: 428 blocks of 512 threads, of which 264 run at once, 69.1 us, of 256 55.9.
TEST(Columns, HaveHalfTheThreadsIfAllBlocksThenRunAtOnce) {
  const auto shape_of = [](int rows, int columns) {
    const Plan plan =
        plan_of_columns(f16, rows, columns, "m = max(x); y = m + log(sum(exp(x - m)))");
    return std::tuple(plan.threads, rows_of(plan)->row_threads, rows_of(plan)->cluster);
  };
  EXPECT_EQ(shape_of(640, 21109), std::tuple(256, 8, 1));
  EXPECT_EQ(shape_of(640, 16001), std::tuple(512, 16, 1)) << "501 blocks run at once";
}

// 1802/75 of the sweep: a thread waited for the weight of each vector of a batch.
TEST(Columns, LoadWeightsAlongThemInTheirBatches) {
  const auto loaded = [](const char* formula) {
    const char* const kX = "(1,16384,8192):(1,8192,1)";
    Fused op = test::make_op(bf16, {{"x", kX}, {"y", "(1,1,8192):(1,8192,1)"}}, formula);
    op.axis = {1};
    op.tensors.push_back({.name = "w", .dtype = bf16, .layout = "(16384,1):(1,1)"});
    const Plan plan = plan_of(op);
    const Operand& weight = plan.operands.back();
    EXPECT_TRUE(weight.every_row);
    EXPECT_EQ(rows_of(plan)->register_vectors, 0);
    return is_loaded_with_row(plan, *rows_of(plan), weight);
  };
  EXPECT_TRUE(loaded("y = sum(x * w)"));
}

// 2102/164 of the sweep: 144 us by clusters of four, 122 with eight loads under way.
TEST(Columns, WhoseBatchesHaveCentresHaveLargeOnes) {
  const auto batch = [](const char* formula) {
    return plan_of(over_middle(f32, "(256,42761,9):(384849,9,1)", "(256,1,9):(9,9,1)", formula))
        .unroll;
  };
  EXPECT_EQ(batch("y = var(x)"), 8);
  EXPECT_EQ(batch("y = max(x) - min(x)"), 4);
}

// 301/12 of the sweep: 68 us with vectors of four, 44 with two.
TEST(Columns, OfThreeVectorsHaveNarrowerOnes) {
  EXPECT_EQ(sum(f32, "(1620,1200,12):(14404,12,1)", "(1620,1,12):(12,12,1)").vector, 2);
  EXPECT_EQ(sum(f32, "(1620,1200,16):(19204,16,1)", "(1620,1,16):(16,16,1)").vector, 4);
}

// 301/29 of the sweep: 5.7 us with pairs, 4.0 with a thread for each element.
// 1502/183 of the sweep: 141 blocks of 512 threads took a third longer.
TEST(Columns, OfHardlyMoreBlocksThanMultiprocessorsHaveNarrowerOnes) {
  const auto of_columns = [](const std::string& columns) {
    return sum(f16, "(1,497," + columns + "):(1," + columns + ",1)",
               "(1,1," + columns + "):(1,1,1)");
  };
  const Plan few = of_columns("9024");
  EXPECT_EQ(few.threads, 256);
  EXPECT_EQ(few.threads / rows_of(few)->row_threads, 4) << "vectors side by side";
  EXPECT_EQ(of_columns("8192").threads, 512) << "a block for each";
}

TEST(Columns, ThatAreHeldMissAtMostAThreadsLastVector) {
  const auto whole = [](const std::string& length) {
    const std::string x = "(125," + length + ",257):(" + std::to_string(std::stoi(length) * 257);
    const Plan plan =
        plan_of(over_middle(bf16, x + ",257,1)", "(125,1,257):(257,257,1)", "y = var(x)"));
    const Rows& rows = *rows_of(plan);
    EXPECT_GT(rows.register_vectors, 1);
    return rows.register_vectors - whole_steps(plan, rows);
  };
  EXPECT_EQ(whole("640"), 0);
  EXPECT_EQ(whole("636"), 1);
  EXPECT_EQ(whole("609"), 1);
}

// 2101/100 of the sweep: 402 us by clusters of 8 blocks, 317 by clusters of 4; 2102/192, of bytes:
// 160 us by clusters of 8 blocks, 87 by blocks.
TEST(Columns, ThatAreLongAreHeldInNarrowStripsBeforeLargeClusters) {
  const auto held = [](DType dtype, int length, int columns, const char* formula, bool full) {
    const std::string x = fmt::format("(1,{0},{1}):(1,{1},1)", length, columns);
    const std::string y = full ? x : fmt::format("(1,1,{0}):(1,{0},1)", columns);
    Fused op = over_middle(dtype, x, y, formula);
    if (!full) op.tensors[1].dtype = f32;
    const Plan plan = plan_of(op);
    return std::tuple(rows_of(plan)->cluster, strip_of(plan));
  };
  const char* const softmax = "e = exp(x - max(x)); y = e / sum(e)";
  EXPECT_EQ(held(bf16, 1352, 151552, softmax, true), std::tuple(4, 32));
  EXPECT_EQ(held(bf16, 678, 100000, softmax, true), std::tuple(4, 64)) << "4 blocks anyway";
  EXPECT_EQ(held(f32, 2676, 4096, softmax, true), std::tuple(8, 32)) << "a line";
  EXPECT_EQ(held(u8, 1000, 131072, "y = var(f32(x))", false), std::tuple(1, 32));
}

// 5032/121 of the sweep: 342 blocks of 512 threads 11.6 us, of 256 10.1.
TEST(Columns, ThatAreHeldByAFewBlocksMoreThanRunAtOnceHaveHalfTheThreads) {
  const auto threads = [](int length, int columns) {
    const std::string x = fmt::format("(1,{0},{1}):(1,{1},1)", length, columns);
    return softmax(bf16, x, x).threads;
  };
  EXPECT_EQ(threads(167, 9600), 256);
  EXPECT_EQ(threads(167, 8192), 512) << "at once";
}

// 1502/214 of the sweep: by clusters of 4 blocks 24.3 us, by blocks 16.4.
TEST(Columns, ThatAreOddAreHeldByABlockInsteadOfACluster) {
  const auto rows_of_variance = [](DType dtype, int outer, int length, const char* formula) {
    const std::string n = std::to_string(length), all = std::to_string(length * 257);
    Fused op = test::make_op(
        dtype, {{"x", "(" + std::to_string(outer) + "," + n + ",257):(" + all + ",257,1)"}},
        formula);
    const bool full = std::string_view(formula).find("var") == std::string_view::npos;
    op.tensors.push_back({.name = "y",
                          .dtype = f32,
                          .layout = full ? op.tensors[0].layout
                                         : "(" + std::to_string(outer) + ",1,257):(257,0,1)"});
    op.axis = {1};
    const Plan plan = plan_of(op);
    EXPECT_EQ(plan.vector, 1);
    return std::tuple(rows_of(plan)->cluster, plan.threads / rows_of(plan)->row_threads);
  };
  EXPECT_EQ(rows_of_variance(bf16, 125, 636, "y = f32(var(x))"), std::tuple(1, 32));
  EXPECT_EQ(rows_of_variance(f32, 125, 636, "y = var(x)"), std::tuple(1, 16));
  EXPECT_EQ(rows_of_variance(bf16, 125, 1200, "y = f32(var(x))"), std::tuple(1, 16)) << "a sector";
  EXPECT_GT(std::get<0>(rows_of_variance(bf16, 125, 2000, "y = f32(var(x))")), 1) << "too long";
  EXPECT_GT(std::get<0>(rows_of_variance(bf16, 10, 636, "y = f32(var(x))")), 1) << "too few";
  EXPECT_GT(std::get<0>(rows_of_variance(bf16, 125, 636, "y = f32(x - mean(x))")), 1)
      << "stores want wide strips";
}

// 1803/206 of the sweep: 9.1 us by pairs that are shifted, 7.7 by elements.
TEST(Columns, OfHeavyFormulasAreNotShiftedByTwoChunksForTwoElements) {
  const char* const heavy = "y = max(log(1 + exp(x)))";
  const Plan plan = plan_of_columns(f32, 3001, 513, heavy);
  EXPECT_EQ(plan.vector, 1);
  EXPECT_FALSE(is_shifted(plan));
  EXPECT_EQ(plan_of_columns(f32, 3001, 513, "y = max(x)").vector, 2);
  EXPECT_EQ(plan_of_columns(f32, 3001, 2047, heavy).vector, 4);
}

// 1100 x 8192 f32: 29.4 us by 5 vectors of 4 elements for 4.3, 27.4 by 9 of 2 for 8.6; of gelu
// 35.4 and 25.2.
TEST(Columns, OfHeavyFormulasAreComputedForFewElementsThatDoNotExist) {
  const auto of_rows = [](int rows, const char* formula) {
    return plan_of_columns(f32, rows, 8192, formula);
  };
  const char* const heavy = "y = var(log(abs(exp(x)) + 1))";
  const Plan plan = of_rows(1100, heavy);
  EXPECT_EQ(plan.vector, 2);
  EXPECT_EQ(rows_of(plan)->register_vectors, 9);
  EXPECT_EQ(of_rows(1280, heavy).vector, 4) << "all exist";
  EXPECT_EQ(of_rows(1100, "y = var(x)").vector, 4) << "memory decides";
}

// 1803/214 of the sweep, of erf and a logarithm: 279 blocks on 132 multiprocessors 900 us, 1,116
// of a quarter as many columns 684.
TEST(Columns, OfHeavyFormulasAreSpreadEvenly) {
  const auto strip = [](const char* formula) {
    return strip_of(plan_of_columns(f16, 16384, 17856, formula));
  };
  EXPECT_EQ(strip("y = var(log(abs(erf(x)) + 1))"), 16);
  EXPECT_EQ(strip("y = var(x)"), 64);
}

// 1801/89 of the sweep: 297 us held by clusters, 196 read once; 8000 x 4112 of f16 45.9 and 29.6,
// 8000 x 512 8.5 and 11.3.
TEST(Columns, OfLongVariancesAreReadOnceIfTheyAreMany) {
  const auto is_held = [](int rows, int columns, const char* formula) {
    return rows_of(plan_of_columns(f32, rows, columns, formula))->register_vectors > 0;
  };
  EXPECT_FALSE(is_held(4443, 22560, "y = var(log(abs(exp(x)) + 1))"));
  EXPECT_FALSE(is_held(4443, 2048, "y = var(x)"));
  EXPECT_TRUE(is_held(4096, 22560, "y = var(x)"));
  EXPECT_TRUE(is_held(4443, 512, "y = var(x)")) << "few columns";
}

// 1401/94 of the sweep: in strips of 16 shifted vectors 13.4 us, of 32 elements 8.4.
TEST(Columns, ThatAreOddAndFewComeByElementsInSplits) {
  const auto expect_splits = [](const Plan& plan) {
    EXPECT_FALSE(is_shifted(plan));
    EXPECT_GT(rows_of(plan)->splits, 1);
    EXPECT_EQ(plan.threads / rows_of(plan)->row_threads, 32);
  };
  for (const DType dtype : {f16, f32}) {
    const auto of_columns = [&](int length, int columns, const char* formula) {
      return plan_of_columns(dtype, length, columns, formula);
    };
    expect_splits(of_columns(25641, 131, "y = sum(x)"));
    expect_splits(of_columns(25641, 1023, "y = max(x) - min(x)"));
    expect_splits(of_columns(25641, 1023, "y = sum(log(abs(x) + 1))"));
    EXPECT_TRUE(is_shifted(of_columns(25641, 517, "y = sum(x)"))) << "one reduction";
    EXPECT_TRUE(is_shifted(of_columns(25641, 1101, "y = max(x) - min(x)")));
    EXPECT_TRUE(is_shifted(of_columns(4001, 517, "y = max(x) - min(x)"))) << "for clusters";
  }
}

// 1902/158 of the sweep, 437,288 f16: 113 us by 16 clusters of narrow strips, 87 by splits.
TEST(Columns, ThatAreLongAreSharedBySplitsInsteadOfManyNarrowClusters) {
  const auto rows = [](int length) {
    return *rows_of(plan_of_columns(f16, length, 256, "y = argmin(x * x)"));
  };
  EXPECT_GT(rows(437288).splits, 1);
  EXPECT_GT(rows_of(plan_of_columns(f16, 240464, 512, "y = argmax(x)"))->splits, 1) << "2902/48";
  EXPECT_EQ(rows(43728).splits, 1) << "a second kernel takes a larger part of the time";
  EXPECT_EQ(rows(43728).cluster, 8);
}

// 2903/103 of the sweep: 66.2 us by 528 blocks, of which 396 run at once, 51.7 by 264; 2903/7 139
// by 132 blocks with centres, 120 by 264.
TEST(Columns, HaveAsManySplitsAsRunAtOnce) {
  const auto splits = [](const Plan& plan) { return rows_of(plan)->splits; };
  Fused op = over_middle(bf16, "(1,181664,224):(1,224,1)", "(1,1,224):(1,224,1)",
                         "v = where(k, x, 0); m = max(v); y = m + log(sum(exp(v - m)))");
  op.tensors.push_back({.name = "k", .dtype = b8, .layout = op.tensors[0].layout});
  EXPECT_EQ(splits(plan_of(op)), 132);
  EXPECT_EQ(splits(plan_of_columns(bf16, 408184, 336, "y = var(x)")), 44);
  EXPECT_EQ(splits(plan_of_columns(bf16, 202707, 17, "y = sum(x)")), 264) << "of two strips";
}

// 2805/96 of the sweep, 4 u8 of each thread: 5.5 us by blocks of 512 threads, whose 16 warps are
// combined one after another, 4.5 by 128.
TEST(Columns, OfSplitsWithCentresHaveSmallBlocksIfTheyAreShort) {
  const auto threads = [](const std::string& length, const char* formula) {
    Fused op = over_middle(u8, "(1," + length + ",17):(1,17,1)", "(1,1,17):(1,17,1)", formula);
    op.tensors[1].dtype = bf16;
    const Plan plan = plan_of(op);
    EXPECT_GT(rows_of(plan)->splits, 1);
    return plan.threads;
  };
  EXPECT_EQ(threads("8664", "y = var(bf16(x))"), 128);
  EXPECT_EQ(threads("8664", "y = sum(bf16(x))"), 512);
  EXPECT_EQ(threads("86640", "y = var(bf16(x))"), 512);
}

TEST(Columns, OfFewElementsHaveMoreThreads) {
  const auto pair = [](const std::string& length) {
    const std::string layout = "(1," + length + ",2):(1,2,1)";
    return softmax(bf16, layout, layout);
  };
  EXPECT_EQ(pair("14340").vector, 1);
  EXPECT_EQ(pair("28680").vector, 2);
}

// 1301/81 of the sweep: 1.53 us by two threads a column, 1.35 by one.
// 1804/245 of the sweep: each lane came back to the sectors of a mask 32 times.
TEST(Columns, BesideAnInputOfAFewBytesAlongThemHaveSingleElements) {
  const auto masked = [](const std::string& m) {
    Fused op = test::make_op(
        f32, {{"x", "(11008,128,8):(128,1,1409024)"}, {"m", m}, {"y", "(11008,128,8):(1024,8,1)"}},
        "v = where(m, x, -30); e = exp(v - max(v)); y = e / sum(e)");
    op.axis = {2};
    op.tensors[1].dtype = b8;
    return plan_of(op);
  };
  const Plan along = masked("(11008,128,8):(1024,8,1)");
  EXPECT_EQ(along.vector, 1);
  EXPECT_EQ(along.threads, 512);
  EXPECT_EQ(rows_of(along)->row_threads, 1);
  EXPECT_EQ(masked("(11008,128,8):(128,1,1409024)").vector, 4) << "in the order of x";
}

TEST(Columns, OfAFewElementsHaveAThreadEach) {
  const auto threads = [](const char* layout) {
    Fused op = test::make_op(bf16, {{"x", layout}, {"y", layout}}, "y = x - mean(x)");
    op.axis = {1};
    return rows_of(plan_of(op))->row_threads;
  };
  EXPECT_EQ(threads("(32,3,10):(30,10,1)"), 1);
  EXPECT_EQ(threads("(32,4,10):(40,10,1)"), 1);
  EXPECT_GT(threads("(32,24,10):(240,10,1)"), 1);
}

}  // namespace
}  // namespace tilejit::plan
