// Short rows that blocks copy to shared memory as one run.
#include "staged/family.hpp"

#include <gtest/gtest.h>

#include <string>

#include "plan/plans.hpp"
#include "staged/runs.hpp"
#include "support/specs.hpp"
#include "tilejit/error.hpp"

namespace tilejit::plan {
namespace {

Fused short_softmax(const std::string& x, const std::string& y, DType in, DType out) {
  Fused op = test::make_op(in, {{"x", x}, {"y", y}}, "e = exp(x - max(x))\ny = e / sum(e)");
  op.tensors[1].dtype = out;
  op.axis = {1};
  return op;
}

Fused short_softmax(const std::string& layout, DType dtype) {
  return short_softmax(layout, layout, dtype, dtype);
}

Fused reduced(const std::string& x) {
  Fused op =
      test::make_op(bf16, {{"x", x}, {"y", x.substr(1, x.find(',') - 1) + ":1"}}, "y = sum(x)");
  op.axis = {1};
  return op;
}

const StagedRows* staged_of(const Plan& plan) {
  return std::get_if<StagedRows>(&plan.family);
}

// Moving 2 to 3 MB, rows of 25 f16 take 2.88 us staged (2902/181 of the sweep), along 2.48; of 100
// i8 (2903/150) 3.82 and 2.99.
TEST(Staged, AreShortRowsOfNarrowAccesses) {
  struct Row {
    const char* what;
    Fused op;
    bool staged;
  };
  Fused scan = test::make_op(bf16, {{"x", "(2000000,4):(4,1)"}, {"y", "(2000000,4):(4,1)"}},
                             "y = cumsum(x)");
  scan.axis = {1};
  Fused unaligned = short_softmax("(1000000,9):(9,1)", f16);
  unaligned.tensors[0].align = 2;
  unaligned.tensors[1].align = 2;
  Fused pinned = short_softmax("(1000000,9):(9,1)", f16);
  pinned.tuning.register_vectors = 0;
  const Row rows[] = {
      {"odd rows", short_softmax("(1000000,9):(9,1)", f16), true},
      {"their number known at launch", short_softmax("(n,9):(9,1)", f16), true},
      {"vectors of two", short_softmax("(1000000,10):(10,1)", f32), true},
      {"scanned rows", scan, true},
      {"vectors of 16 bytes", short_softmax("(1000000,8):(8,1)", f16), false},
      {"vectors of 16 bytes of the output",
       short_softmax("(1000000,12):(12,1)", "(1000000,12):(12,1)", f16, f32), false},
      {"long rows", short_softmax("(100000,515):(515,1)", f32), false},
      {"few rows", short_softmax("(1000,9):(9,1)", f16), false},
      {"rows for more than 8 threads each", short_softmax("(3570,75):(75,1)", bf16), false},
      {"rows for 8 threads each", short_softmax("(28624,33):(33,1)", bf16), true},
      {"rows that are all under way at once", short_softmax("(8624,33):(33,1)", bf16), false},
      {"the same of less than a sector", short_softmax("(38624,9):(9,1)", bf16), true},
      {"the same that are only read, by elements", reduced("(28624,33):(33,1)"), true},
      {"the same by vectors of four", reduced("(12462,100):(100,1)"), false},
      {"not enough rows of words", short_softmax("(20000,33):(33,1)", f32), false},
      {"padded rows", short_softmax("(1000000,9):(10,1)", "(1000000,9):(11,1)", f16, f16), false},
      {"columns", short_softmax("(1000000,9):(1,1000000)", f16), false},
      {"length known at launch", short_softmax("(1000000,n):(n,1)", f16), false},
      {"addresses that are not aligned", unaligned, false},
      {"a knob of fused_rows.cu", pinned, false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    EXPECT_EQ(staged_of(plan_of(row.op)) != nullptr, row.staged);
  }
}

// 1801/80 of the sweep: 9.4 us staged, 7.6 by threads that lie along rows.
TEST(Staged, RowsThatMeetWeightsAreNotIfHardlyAnyLaneAlongThemIsIdle) {
  const auto is_staged = [](int length, DType dtype, const char* formula) {
    const std::string n = std::to_string(length), rows = "(100000," + n + "):(" + n + ",1)";
    Fused op = test::make_op(dtype, {{"x", rows}, {"w", n + ":1"}, {"y", rows}}, formula);
    op.axis = {1};
    return staged_of(plan_of(op)) != nullptr;
  };
  const char* const shifted = "v = x + w\ne = exp(v - max(v))\ny = e / sum(e)";
  EXPECT_FALSE(is_staged(30, f32, shifted));
  EXPECT_FALSE(is_staged(62, f32, shifted));
  EXPECT_FALSE(is_staged(60, f16, shifted));
  EXPECT_TRUE(is_staged(14, f32, shifted)) << "few vectors";
  EXPECT_TRUE(is_staged(26, f32, shifted)) << "3 lanes of 16 idle";
  EXPECT_TRUE(is_staged(31, f32, shifted)) << "vectors of a word";
  EXPECT_TRUE(is_staged(178, bf16, shifted)) << "39 lanes of 128 idle";
  // 2913/129: 13.4 us staged, 11.1 along.
  EXPECT_FALSE(is_staged(250, bf16, shifted)) << "many of these";
}

TEST(Staged, HaveFewThreadsARow) {
  struct Row {
    const char* layout;
    DType dtype;
    int row_threads, register_vectors, turns;
  };
  constexpr Row kRows[] = {
      {"(2000000,9):(9,1)", f16, 1, 9, 2},     {"(2000000,2):(2,1)", f32, 1, 1, 5},
      {"(2000000,33):(33,1)", bf16, 1, 33, 1}, {"(500000,127):(127,1)", bf16, 2, 64, 1},
      {"(200000,33):(33,1)", f32, 2, 17, 1},   {"(100000,127):(127,1)", f32, 8, 16, 1},
      {"(30919,63):(63,1)", f16, 8, 8, 1},     {"(33759,46):(46,1)", f32, 8, 3, 1},
      {"(54096,33):(33,1)", f32, 4, 9, 1},     {"(105258,13):(13,1)", f32, 2, 7, 1},
      {"(39715,9):(9,1)", bf16, 2, 5, 1},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.layout);
    const Plan plan = plan_of(short_softmax(row.layout, row.dtype));
    const StagedRows* const staged = staged_of(plan);
    ASSERT_NE(staged, nullptr);
    EXPECT_EQ(staged->row_threads, row.row_threads);
    EXPECT_EQ(staged->register_vectors, row.register_vectors);
    EXPECT_EQ(staged->turns, row.turns);
    EXPECT_EQ(units_per_block(plan) % 16, 0) << "runs begin at multiples of 16 bytes";
    EXPECT_LE(staged_bytes(plan, *staged), 48 * 1024);
    EXPECT_EQ(plan.operands[0].access_bytes, 16);
  }
}

// Argmax and maximum of 49 bf16: 4.3 us by one thread a row, 3.5 by 4.
TEST(Staged, FewThreadsHaveRowsOfOnePass) {
  const auto threads_of_row = [](const std::string& rows, const std::string& length) {
    Fused op = test::make_op(bf16,
                             {{"x", "(" + rows + "," + length + "):(" + length + ",1)"},
                              {"y", "(" + rows + ",1):(1,1)"}},
                             "y = max(x)");
    op.axis = {1};
    return staged_of(plan_of(op))->row_threads;
  };
  EXPECT_EQ(threads_of_row("26004", "49"), 4);
  EXPECT_EQ(threads_of_row("46641", "17"), 2);
  EXPECT_EQ(threads_of_row("260040", "49"), 1) << "threads that would wait";
}

Fused short_scan(const std::string& layout, DType dtype) {
  Fused op = test::make_op(dtype, {{"x", layout}, {"y", layout}}, "y = cumsum(x)");
  op.axis = {1};
  return op;
}

// 1305/132 of the sweep, 41 f32, by fused_scan.cu: 32.6 us instead of 23; 1307/127, 50 bf16 by one
// thread a row: 7.0 instead of 5.5.
TEST(Staged, ScannedRowsAreSharedByThreads) {
  struct Row {
    const char* layout;
    DType dtype;
    int row_threads, register_vectors, vector;
  };
  constexpr Row kRows[] = {
      {"(2000000,9):(9,1)", f32, 1, 9, 1},      {"(202496,41):(41,1)", f32, 2, 21, 1},
      {"(29268,41):(41,1)", f32, 8, 6, 1},      {"(500000,33):(33,1)", bf16, 1, 33, 1},
      {"(53016,50):(50,1)", bf16, 4, 7, 2},     {"(197530,81):(81,1)", bf16, 8, 11, 1},
      {"(194488,127):(127,1)", bf16, 8, 17, 1},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.layout);
    const Plan plan = plan_of(short_scan(row.layout, row.dtype));
    const StagedRows* const staged = staged_of(plan);
    ASSERT_NE(staged, nullptr);
    EXPECT_EQ(staged->row_threads, row.row_threads);
    EXPECT_EQ(staged->register_vectors, row.register_vectors);
    EXPECT_EQ(plan.vector, row.vector);
  }
}

// 2403/161 of the sweep: 3.0 us staged, 2.6 along.
TEST(Staged, ScannedRowsAreNotWhileTheDeviceRunsAWarpForEach) {
  EXPECT_EQ(staged_of(plan_of(short_scan("(6336,54):(54,1)", f32))), nullptr);
  EXPECT_NE(staged_of(plan_of(short_scan("(6337,54):(54,1)", f32))), nullptr);
}

// 1303/161 of the sweep, means of rows of 7 f16 with a mask: 263.7 us by blocks of 2.6 KB, 209.9
// by 5.3.
TEST(Staged, VeryManyBlocksTakeAboutAsManyBytes) {
  const auto turns_of = [](const std::string& layout, DType dtype) {
    return staged_of(plan_of(short_softmax(layout, dtype)))->turns;
  };
  EXPECT_EQ(turns_of("(10000000,11):(11,1)", f16), 2) << "of 2.8 KB each";
  EXPECT_EQ(turns_of("(10000000,15):(15,1)", f16), 1) << "of 3.8 KB";
  EXPECT_EQ(turns_of("(1000000,11):(11,1)", f16), 1) << "fewer blocks";
}

// Logsumexp of 10 bf16 (1804/14 of the sweep): 5.8 us by 2 turns, 5.4 by 1; of 7 (2103/70): 4.9 by
// 2, in blocks of 2 KB 5.3.
TEST(Staged, ThreadsThatReduceTakeNoTurnsWhileTheDeviceRunsMore) {
  const auto turns_of = [](const std::string& rows, const std::string& length) {
    Fused op = test::make_op(bf16,
                             {{"x", "(" + rows + "," + length + "):(" + length + ",1)"},
                              {"y", "(" + rows + ",1):(1,1)"}},
                             "m = max(x); y = m + log(sum(exp(x - m)))");
    op.axis = {1};
    return staged_of(plan_of(op))->turns;
  };
  EXPECT_EQ(turns_of("457080", "10"), 1);
  EXPECT_EQ(turns_of("4570800", "10"), 2);
  EXPECT_EQ(turns_of("452529", "7"), 2);
}

// Rows of 3 f32 in 67 (2102/184): 63.1 us by 11 turns, 51.3 by 1; of 5 bf16 that repeat (1802/34):
// 20.4 by 25, 15.3 by 3.
TEST(Staged, TurnsThatLoadFromMemoryAreFew) {
  EXPECT_EQ(
      staged_of(plan_of(short_softmax("(1514244,3):(67,1)", "(1514244,3):(3,1)", f32, f32)))->turns,
      1);
  Fused repeated =
      test::make_op(bf16, {{"x", "(10353,333,5):(0,5,1)"}, {"y", "(10353,333,5):(1665,5,1)"}},
                    "y = x / (sqrt(sum(x * x)) + 1)");
  repeated.axis = {2};
  EXPECT_EQ(staged_of(plan_of(repeated))->turns, 3);
}

// 2916/53 of the sweep: 52.3 us staged, by blocks of 1.8 KB that then wait for w, 34.6 from memory.
TEST(Staged, AreNoFewBytesBesideElementsThatRowsDoNotShare) {
  const auto is_staged = [](const std::string& length, const std::string& w) {
    const std::string rows = "(656,8192," + length + ")";
    Fused op = test::make_op(
        bf16,
        {{"x", rows + ":(" + std::to_string(8192 * std::stoi(length)) + "," + length + ",1)"},
         {"w", rows + ":" + w},
         {"y", "(656,8192,1):(8192,1,1)"}},
        "y = max(min(x, w))");
    op.axis = {2};
    return staged_of(plan_of(op)) != nullptr;
  };
  EXPECT_FALSE(is_staged("7", "(0,7,1)"));
  EXPECT_TRUE(is_staged("7", "(0,0,1)")) << "shared by all rows";
  EXPECT_TRUE(is_staged("9", "(0,9,1)")) << "2.3 KB";
}

// 1304/133 of the sweep, 12 f32: 81.8 us by a thread a row whose loads are 48 bytes apart, 66.7
// staged.
TEST(Staged, AreScannedRowsThatWouldLeaveLanesIdle) {
  const auto threads_of_row = [](const char* layout, DType dtype) {
    const Plan plan = plan_of(short_scan(layout, dtype));
    const StagedRows* const staged = staged_of(plan);
    return staged == nullptr ? 0 : staged->row_threads;
  };
  EXPECT_EQ(threads_of_row("(2035200,12):(12,1)", f32), 1);
  EXPECT_EQ(threads_of_row("(1587627,48):(48,1)", bf16), 2) << "3 vectors are odd, so that threads "
                                                               "ask all banks";
  EXPECT_EQ(threads_of_row("(395048,200):(200,1)", bf16), 4);
  EXPECT_EQ(threads_of_row("(2035200,16):(16,1)", f32), 0) << "no lane is idle";
  EXPECT_EQ(threads_of_row("(20352,12):(12,1)", f32), 0) << "few rows";
}

TEST(Staged, OutputsTakeThePlacesOfInputs) {
  Fused op = test::make_op(f32,
                           {{"x", "(1000000,5):(5,1)"},
                            {"b", "(1000000,1):(1,1)"},
                            {"w", "(1000000,5):(8,1)"},
                            {"y", "(1000000,5):(5,1)"},
                            {"z", "(1000000,5):(5,1)"},
                            {"s", "(1000000,1):(1,1)"}},
                           "v = x + b * w\ny = v - mean(v)\nz = v\ns = sum(v)");
  op.axis = {1};
  const Plan plan = plan_of(op);
  const StagedRows* const staged = staged_of(plan);
  ASSERT_NE(staged, nullptr);
  EXPECT_EQ(staged_pitch(plan, plan.operands[0]), 5);
  EXPECT_EQ(staged_pitch(plan, plan.operands[1]), 1) << "an element a row";
  EXPECT_EQ(staged_pitch(plan, plan.operands[2]), std::nullopt) << "padded";
  EXPECT_EQ(staged_pitch(plan, plan.operands[5]), std::nullopt) << "stored once a row";
  const auto place = [&](int t) {
    return staged_place(plan, *staged, plan.operands[static_cast<std::size_t>(t)]);
  };
  const std::int64_t rows = units_per_block(plan);
  EXPECT_EQ(place(0), 0);
  EXPECT_EQ(place(1), rows * 20);
  EXPECT_EQ(place(3), 0) << "of x";
  EXPECT_EQ(place(4), rows * 24) << "no input is left";
  EXPECT_EQ(staged_bytes(plan, *staged), rows * 44);
}

// 1001/2 of the sweep, padded rows of 31 f32 whose lanes each read their own: 27.7 us, gathered
// 21.4.
TEST(Staged, RowsThatAreNoRunAreGatheredIfLanesWouldAccessManyLines) {
  struct Row {
    const char *what, *x, *y;
    DType dtype;
    std::uint32_t align;
    bool gathered;
  };
  constexpr Row kRows[] = {
      {"a run", "(1000000,31):(31,1)", "(1000000,31):(31,1)", f32, 16, false},
      {"padded rows", "(1000000,31):(32,1)", "(1000000,31):(31,1)", f32, 4, true},
      {"gaps", "(1000000,9):(18,2)", "(1000000,9):(9,1)", f32, 16, true},
      {"gaps of a line", "(1000000,7):(448,64)", "(1000000,7):(7,1)", bf16, 16, false},
      {"14 lines", "(1000000,7):(14,2)", "(1000000,7):(7,1)", f32, 16, false},
      {"many registers", "(1000000,31):(33,1)", "(1000000,31):(31,1)", bf16, 2, false},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.what);
    Fused op = short_softmax(row.x, row.y, row.dtype, row.dtype);
    op.tensors[0].align = row.align;
    const Plan plan = plan_of(op);
    const StagedRows* const staged = staged_of(plan);
    ASSERT_NE(staged, nullptr);
    EXPECT_EQ(is_gathered(plan, *staged, plan.operands[0]), row.gathered);
    EXPECT_FALSE(is_gathered(plan, *staged, plan.operands[1])) << "outputs are not";
  }
}

TEST(Staged, RefuseKnobsOfReductionsInScans) {
  Fused scan = test::make_op(bf16, {{"x", "(2000000,4):(4,1)"}, {"y", "(2000000,4):(4,1)"}},
                             "y = cumsum(x)");
  scan.axis = {1};
  scan.tuning.row_threads = 2;
  EXPECT_THROW((void)plan_of(scan), Error);
  Fused reduced = short_softmax("(2000000,63):(63,1)", bf16);
  reduced.tuning.row_threads = 4;
  const Plan plan = plan_of(reduced);
  ASSERT_NE(staged_of(plan), nullptr);
  EXPECT_EQ(staged_of(plan)->row_threads, 4);
}

// Short rows of which threads would store 2 bytes of a sector each, 50 of them in a nanosecond.
TEST(Staged, RowsFollowTheOutputIfThreadsWouldStoreParts) {
  const auto orders = [](const std::string& x, const std::string& y) {
    Fused op = test::make_op(bf16, {{"x", x}, {"y", y}}, "e = exp(x - max(x)); y = e / sum(e)");
    op.axis = {3};
    const Plan plan = plan_of(op);
    EXPECT_TRUE(std::holds_alternative<StagedRows>(plan.family));
    return extents_of(plan);
  };
  const std::string shape = "(88,1536,4,57):", row_major = shape + "(350208,228,57,1)";
  EXPECT_EQ(orders(shape + "(57,20064,5016,1)", row_major), "57 6144 88");
  EXPECT_EQ(orders(row_major, row_major), "57 540672");
}

}  // namespace
}  // namespace tilejit::plan
