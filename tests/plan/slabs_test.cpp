// Columns that blocks copy to shared memory as slabs.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "plan/plans.hpp"
#include "staged/family.hpp"
#include "support/specs.hpp"

namespace tilejit::plan {
namespace {

Fused softmax_of(const std::string& x, const std::string& y, DType dtype) {
  Fused op = test::make_op(dtype, {{"x", x}, {"y", y}}, "e = exp(x - max(x))\ny = e / sum(e)");
  op.axis = {1};
  return op;
}

Fused softmax_of(const std::string& layout, DType dtype) {
  return softmax_of(layout, layout, dtype);
}

const StagedRows* slabs_of(const Plan& plan) {
  const auto* const staged = std::get_if<StagedRows>(&plan.family);
  return staged != nullptr && staged->columns > 1 ? staged : nullptr;
}

// 2901/20 of the sweep, 3 of 4 f16 side by side: 2.84 us by slabs, 2.45 by threads that have them.
TEST(Slabs, AreColumnsOfNarrowAccesses) {
  struct Row {
    const char* what;
    Fused op;
    bool slabs;
  };
  Fused unaligned = softmax_of("(100000,41,3):(123,3,1)", bf16);
  unaligned.tensors[0].align = 2;
  Fused pinned = softmax_of("(100000,41,3):(123,3,1)", bf16);
  pinned.tuning.threads = 128;
  Fused scan = softmax_of("(100000,16,5):(80,5,1)", bf16);
  scan.formula = "y = cumsum(x)";
  Fused long_scan = softmax_of("(1000,640,5):(3200,5,1)", bf16);
  long_scan.formula = "y = cumsum(x)";
  Fused long_scaled_scan = long_scan;
  long_scaled_scan.formula = "y = cumsum(x / max(x))";
  Fused long_words = softmax_of("(400,1000,333):(333000,333,1)", f32);
  long_words.formula = "y = cumsum(x)";
  Fused longer_scaled_scan = softmax_of("(1000,6400,5):(32000,5,1)", bf16);
  longer_scaled_scan.formula = "y = cumsum(x / max(x))";
  Fused short_scan = softmax_of("(10000,100,100):(10000,100,1)", bf16);
  short_scan.formula = "y = cumsum(x)";
  Fused three_long_scans = softmax_of("(1000,6400,3):(19200,3,1)", bf16);
  three_long_scans.formula = "y = cumsum(x)";
  Fused few_long_scans = softmax_of("(100,6400,5):(32000,5,1)", bf16);
  few_long_scans.formula = "y = cumsum(x)";
  const Row rows[] = {
      {"few odd columns", softmax_of("(100000,41,3):(123,3,1)", bf16), true},
      {"their number known at launch", softmax_of("(n,41,3):(123,3,1)", bf16), true},
      {"few columns of words", softmax_of("(100000,41,3):(123,3,1)", f32), true},
      {"many odd columns", softmax_of("(3000,197,49):(9653,49,1)", bf16), true},
      {"columns of two modes", softmax_of("(100000,3,7,5):(105,35,5,1)", bf16), true},
      {"scanned", scan, true},
      {"a scanned row that no thread holds", long_scan, true},
      {"the same, reduced before", long_scaled_scan, true},
      {"the same of rows that no threads hold", longer_scaled_scan, false},
      {"the same of few slabs", few_long_scans, false},
      {"the same of three columns", three_long_scans, false},
      {"a row of less than four chunks", short_scan, false},
      {"lines of words", softmax_of("(10000,41,33):(1353,33,1)", f32), false},
      {"three vectors of 16 bytes", softmax_of("(100000,41,24):(984,24,1)", bf16), true},
      {"the same of short columns", softmax_of("(400000,7,24):(168,24,1)", bf16), false},
      {"five, more than a line", softmax_of("(100000,41,80):(3280,80,1)", bf16), false},
      {"many odd columns of words that are scanned", long_words, true},
      {"vectors of 16 bytes", softmax_of("(100000,41,8):(328,8,1)", bf16), false},
      {"very short columns", softmax_of("(6000,3,513):(1539,513,1)", f16), true},
      {"the same, a few blocks a multiprocessor", softmax_of("(1000,3,4097):(12291,4097,1)", f16),
       false},
      {"three elements, all under way at once", softmax_of("(44289,3,4):(12,4,1)", f16), false},
      {"seven", softmax_of("(26000,7,4):(28,4,1)", f16), true},
      {"few slabs", softmax_of("(100,997,5):(4985,5,1)", bf16), false},
      {"few elements", softmax_of("(1000,41,3):(123,3,1)", bf16), false},
      {"more than half of the shared memory", softmax_of("(1000,8000,9):(72000,9,1)", bf16), false},
      {"padded slabs", softmax_of("(100000,41,3):(124,3,1)", bf16), false},
      {"another order of the output",
       softmax_of("(100000,41,3):(123,3,1)", "(100000,41,3):(123,1,41)", bf16), false},
      {"length known at launch", softmax_of("(100000,n,3):(3*n,3,1)", bf16), false},
      {"addresses that are not aligned", unaligned, false},
      {"a knob", pinned, false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    EXPECT_EQ(slabs_of(plan_of(row.op)) != nullptr, row.slabs);
  }
}

// 1502/75 of the sweep, columns of 2 f16: 14.1 us by 512 threads, 11.3 by 128.
TEST(Slabs, AreSharedByThreadsAndBlocks) {
  struct Row {
    const char* layout;
    DType dtype;
    int threads, row_threads, register_vectors, turns, slabs;
  };
  constexpr Row kRows[] = {
      {"(500015,41,3):(123,3,1)", bf16, 160, 2, 21, 1, 24},
      {"(7600000,3,7):(21,7,1)", bf16, 160, 1, 3, 7, 146},
      {"(2304,2,1023):(2046,1023,1)", f16, 128, 1, 2, 8, 1},
      {"(3000,197,49):(9653,49,1)", bf16, 416, 8, 25, 1, 1},
      {"(728,1920,10):(19200,10,1)", f32, 320, 32, 60, 1, 1},
      {"(3396,7,33):(231,33,1)", u8, 128, 1, 7, 1, 3},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.layout);
    const Plan plan = plan_of(softmax_of(row.layout, row.dtype));
    const StagedRows* const staged = slabs_of(plan);
    ASSERT_NE(staged, nullptr);
    EXPECT_EQ(plan.threads, row.threads);
    EXPECT_EQ(staged->row_threads, row.row_threads);
    EXPECT_EQ(staged->register_vectors, row.register_vectors);
    EXPECT_EQ(staged->turns, row.turns);
    EXPECT_EQ(staged->slabs, row.slabs);
    EXPECT_EQ(units_per_block(plan), staged->slabs * staged->columns);
    EXPECT_EQ(plan.operands[0].access_bytes, 16);
    EXPECT_EQ(dynamic_shared_bytes(plan) > 0, staged_bytes(plan, *staged) > 48 * 1024);
  }
}

// Stores of results that lie apart are a sector each, for which more threads wait (mean of
// (1878,10,2,1920) in another order: 174 us by 160 threads, 158 by 256).
TEST(Slabs, ThatStoreSectorsHaveMoreThreads) {
  const auto threads_of = [](const char* y) {
    Fused op = test::make_op(bf16, {{"x", "(2000000,2,10):(20,10,1)"}, {"y", y}}, "y = sum(x)");
    op.axis = {1};
    const Plan plan = plan_of(op);
    return slabs_of(plan) == nullptr ? 0 : plan.threads;
  };
  EXPECT_EQ(threads_of("(2000000,1,10):(10,10,1)"), 160);
  EXPECT_EQ(threads_of("(2000000,1,10):(200,20,20)"), 256);
}

// Threads that only reduce take fewer turns while the device has room for more of them, as long as
// these are 2,048 a multiprocessor.
TEST(Slabs, ThatAreOnlyReducedHaveThreadsForTheWholeDevice) {
  const auto turns_of = [](const std::string& slabs, const std::string& y, const char* formula) {
    Fused op = test::make_op(f16, {{"x", "(" + slabs + ",3,17):(51,17,1)"}, {"y", y}}, formula);
    op.axis = {1};
    const Plan plan = plan_of(op);
    return slabs_of(plan) == nullptr ? 0 : slabs_of(plan)->turns;
  };
  EXPECT_EQ(turns_of("48285", "(48285,1,17):(17,17,1)", "y = max(x)"), 4);
  EXPECT_EQ(turns_of("48285", "(48285,3,17):(51,17,1)", "y = x - max(x)"), 6);
  EXPECT_EQ(turns_of("482850", "(482850,1,17):(17,17,1)", "y = max(x)"), 7);
}

// 2203/11 of the sweep, 2047 slabs of 190 x 9 f32: 19.0 us as columns.
TEST(Slabs, OfScannedRowsThatNoThreadHoldsAreSharedByThreads) {
  struct Row {
    const char* layout;
    DType dtype;
    int row_threads, register_vectors;
  };
  constexpr Row kRows[] = {
      {"(100000,60,5):(300,5,1)", bf16, 1, 60},   {"(2047,190,9):(1710,9,1)", f32, 16, 13},
      {"(2644,177,2):(354,2,1)", f32, 32, 7},     {"(72659,171,2):(342,2,1)", f16, 8, 23},
      {"(4720,1024,2):(2048,2,1)", bf16, 32, 33},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.layout);
    Fused op = softmax_of(row.layout, row.dtype);
    op.formula = "y = cumsum(x)";
    const Plan plan = plan_of(op);
    const StagedRows* const staged = slabs_of(plan);
    ASSERT_NE(staged, nullptr);
    EXPECT_EQ(staged->row_threads, row.row_threads);
    EXPECT_EQ(staged->register_vectors, row.register_vectors);
    EXPECT_EQ(staged->stages, 0);
  }
  // 7363/146 of the sweep: 4.2 us by 256 threads a row, 6.4 by 32.
  Fused few = softmax_of("(768,1024,2):(2048,2,1)", bf16);
  few.formula = "y = cumsum(x)";
  EXPECT_EQ(slabs_of(plan_of(few)), nullptr);
}

// Rows that are only scanned pass by in chunks if no thread holds them.
TEST(Slabs, OfLongScannedRowsComeInChunks) {
  struct Row {
    const char* layout;
    DType dtype;
    int threads, chunk, stages;
  };
  constexpr Row kRows[] = {
      {"(100000,60,5):(300,5,1)", bf16, 160, 60, 0},
      {"(742,2679,77):(206283,77,1)", f16, 96, 32, 3},
      {"(20000,700,15):(10500,15,1)", bf16, 32, 64, 3},
      {"(496,128,49):(6272,49,1)", bf16, 64, 32, 3},
      {"(742,2679,31):(83049,31,1)", f32, 32, 32, 3},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.layout);
    Fused op = softmax_of(row.layout, row.dtype);
    op.formula = "y = cumsum(x)";
    const Plan plan = plan_of(op);
    const StagedRows* const staged = slabs_of(plan);
    ASSERT_NE(staged, nullptr);
    EXPECT_EQ(plan.threads, row.threads);
    EXPECT_EQ(staged->register_vectors, row.chunk);
    EXPECT_EQ(staged->stages, row.stages);
    EXPECT_EQ(staged_bytes(plan, *staged), stage_bytes(plan, *staged) * std::max(1, row.stages));
    EXPECT_TRUE(row.stages == 0 || units_per_block(plan) == staged->columns);
  }
}

// 2708/56 of the sweep, 376 slabs of 6 columns, whose chunks have 768 bytes: 281 us, as columns in
// turns 154.
TEST(Slabs, OfFewSmallChunksWouldLeaveMemoryIdle) {
  const auto is_slab = [](const char* layout) {
    Fused op = softmax_of(layout, bf16);
    op.formula = "y = cumsum(x)";
    const Plan plan = plan_of(op);
    EXPECT_EQ(plan.unroll, slabs_of(plan) == nullptr ? 2 : 64);
    return slabs_of(plan) != nullptr;
  };
  EXPECT_FALSE(is_slab("(376,20960,6):(125760,6,1)"));
  EXPECT_TRUE(is_slab("(1376,20960,6):(125760,6,1)"));
}

// Those of more columns than a block has threads for are cut, so that all multiprocessors have
// about as many columns.
TEST(Slabs, OfManyScannedColumnsAreCutInStrips) {
  struct Row {
    const char* layout;
    DType dtype;
    int threads, columns, chunk;
    std::int64_t blocks;
  };
  constexpr Row kRows[] = {
      {"(16,2048,4095):(8386560,4095,1)", f16, 512, 512, 16, 128},
      {"(16,2048,4095):(8386560,4095,1)", f32, 512, 512, 16, 128},
      {"(400,2048,1501):(3074048,1501,1)", bf16, 512, 501, 16, 1200},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.layout);
    Fused op = softmax_of(row.layout, row.dtype);
    op.formula = "y = cumsum(x)";
    const Plan plan = plan_of(op);
    const StagedRows* const staged = slabs_of(plan);
    ASSERT_NE(staged, nullptr);
    EXPECT_EQ(plan.threads, row.threads);
    EXPECT_EQ(staged->columns, row.columns);
    EXPECT_EQ(staged->register_vectors, row.chunk);
    EXPECT_EQ(total_units(plan), row.blocks);
    EXPECT_EQ(units_per_block(plan), 1);
  }
  // Weights are read where they are (1801/175 of the sweep).
  Fused weighted = softmax_of("(1,172,251125):(43193500,251125,1)", f32);
  weighted.tensors.push_back({"w", f32, "(172,1):(1,1)"});
  weighted.formula = "y = cumsum(max(x, w))";
  const Plan plan = plan_of(weighted);
  ASSERT_NE(slabs_of(plan), nullptr);
  EXPECT_EQ(slabs_of(plan)->columns, 512);
  // Aligned columns are not, nor are those of which few multiprocessors would have many.
  for (const char* const layout :
       {"(16,2048,4096):(8388608,4096,1)", "(1,4097,9631):(39458207,9631,1)"}) {
    Fused op = softmax_of(layout, f16);
    op.formula = "y = cumsum(x)";
    EXPECT_EQ(slabs_of(plan_of(op)), nullptr) << layout;
  }
}

// Threads of a warp read several slabs, whose elements would all be in a few banks.
TEST(Slabs, OfWholeChunksAreSpreadOverBanks) {
  const Plan spread = plan_of(softmax_of("(100000,32,3):(96,3,1)", f32));
  EXPECT_EQ(staged_pad(spread, *slabs_of(spread), spread.operands[0]), 1);
  const Plan odd = plan_of(softmax_of("(100000,12,3):(36,3,1)", f32));
  EXPECT_EQ(staged_pad(odd, *slabs_of(odd), odd.operands[0]), 0);
}

TEST(Slabs, NeedAsynchronousCopies) {
  const Fused op = softmax_of("(100000,41,3):(123,3,1)", bf16);
  EXPECT_EQ(slabs_of(plan_of(op, {.major = 7, .minor = 5})), nullptr);
  EXPECT_NE(slabs_of(plan_of(op, {.major = 8, .minor = 0})), nullptr);
}

// A slab holds columns of inputs; a formula of places alone has none.
TEST(Slabs, NeedAnInput) {
  Fused op = test::make_op(bf16, {{"y", "(100000,41,3):(123,3,1)"}},
                           "v = cast(iota(1) % 7, bf16)\ny = v / sum(v)");
  op.axis = {1};
  EXPECT_EQ(slabs_of(plan_of(op)), nullptr);
}

}  // namespace
}  // namespace tilejit::plan
