// How scans are planned: who shares a row, and what is refused.
#include "scan/scan.hpp"

#include <gtest/gtest.h>

#include "plan/plans.hpp"
#include "rows/rows.hpp"
#include "support/specs.hpp"
#include "tilejit/error.hpp"

namespace tilejit::plan {
namespace {

Fused scan(const std::string& layout, DType dtype = bf16,
           const std::string& formula = "y = cumsum(x)") {
  return test::make_op(dtype, {{"x", layout}, {"y", layout}}, formula);
}

const char* const kAcross = "y = cumsum(x, axis=0)";

TEST(Scan, RowsAreSharedByThreadsOrBlocks) {
  struct Row {
    const char* what;
    Fused op;
    bool along;
    int row_threads, threads, register_vectors, unroll, splits;
    std::int64_t partials_bytes;
  };
  const Row rows[] = {
      {"one vector", scan("(1000,8):(8,1)"), true, 1, 128, 1, 1, 1, 0},
      {"less than a warp", scan("(1000,64):(64,1)"), true, 8, 128, 1, 1, 1, 0},
      {"small blocks, with which to start takes longer than to run",
       scan("(100000,120):(120,1)", f32), true, 32, 256, 1, 1, 1, 0},
      {"lanes of many rows that would be idle", scan("(100000,100):(104,1)", f32), true, 8, 128, 4,
       4, 1, 0},
      {"a warp", scan("(8192,1024):(1024,1)"), true, 32, 128, 4, 4, 1, 0},
      {"few rows", scan("(1000,1024):(1024,1)"), true, 128, 128, 1, 1, 1, 0},
      {"a block", scan("(8192,4096):(4096,1)"), true, 128, 128, 4, 4, 1, 0},
      {"chunks", scan("(8192,16384):(16384,1)"), true, 256, 256, 0, 4, 1, 0},
      {"a row a multiprocessor", scan("(132,262144):(262144,1)"), true, 512, 512, 0, 4, 1, 0},
      {"few rows", scan("(8,1048576):(1048576,1)"), true, 256, 256, 0, 4, 64, 8 * 64 * 4},
      {"one row", scan("100000000:1"), true, 256, 256, 0, 4, 509, 509 * 4},
      {"held for the sake of a reduction",
       scan("(8192,16384):(16384,1)", bf16, "y = cumsum(x) / sum(x)"), true, 512, 512, 4, 4, 1, 0},
      {"a reduction of rows that are not shared",
       scan("(8,1048576):(1048576,1)", bf16, "y = cumsum(x) / sum(x)"), true, 512, 512, 0, 4, 1, 0},
      {"length known at launch", scan("(M,N):(N,1)"), true, 256, 256, 0, 4, 1, 0},
      {"columns", scan("(8192,4096):(4096,1)", bf16, kAcross), false, 128, 512, 0, 4, 1, 0},
      {"many columns", scan("(8192,65536):(65536,1)", bf16, kAcross), false, 16, 256, 0, 4, 1, 0},
      {"short columns", scan("(5,65536):(65536,1)", bf16, kAcross), false, 1, 128, 5, 5, 1, 0},
      {"the longest that a thread holds", scan("(32,75536):(75536,1)", bf16, kAcross), false, 1,
       256, 32, 32, 1, 0},
      {"longer", scan("(33,65536):(65536,1)", bf16, kAcross), false, 16, 256, 3, 3, 1, 0},
      {"few columns", scan("(1000000,64):(64,1)", bf16, kAcross), false, 64, 512, 0, 4, 131,
       64 * 131 * 4},
      {"few columns of few chunks", scan("(4000,512):(512,1)", f16, kAcross), false, 64, 256, 0, 4,
       16, 512 * 16 * 4},
      {"more chunks than blocks that run at once", scan("(3304,1024):(1024,1)", f16, kAcross),
       false, 64, 256, 0, 4, 7, 1024 * 7 * 4},
      {"strips of half a sector", scan("(4000,128):(130,1)", bf16, kAcross), false, 64, 512, 0, 4,
       16, 128 * 16 * 4},
      {"wide accumulators", scan("(8192,4096):(4096,1)", i8, kAcross), false, 128, 512, 0, 4, 1, 0},
      {"of integers", scan("100000000:1", i32), true, 256, 256, 0, 4, 520, 520 * 8},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    const Plan plan = plan_of(row.op);
    const Scan& scan = std::get<Scan>(plan.family);
    EXPECT_EQ(scan.along(), row.along);
    EXPECT_EQ(scan.row_threads, row.row_threads);
    EXPECT_EQ(plan.threads, row.threads);
    EXPECT_EQ(scan.register_vectors, row.register_vectors);
    EXPECT_EQ(plan.unroll, row.unroll);
    EXPECT_EQ(scan.splits, row.splits);
    EXPECT_EQ(partials_bytes(plan), row.partials_bytes);
    EXPECT_EQ(launch_plan(plan).steps.size(), row.splits > 1 ? 2u : 1u);
    EXPECT_EQ(scan.direction, Direction::forward);
  }
}

// 2106/226 of the sweep: 5.6 us by 3,968 blocks, which start one after another.
TEST(Scan, BlocksAreLargerIfMemoryReadsNoRows) {
  const auto threads_of = [](const std::string& x) {
    const Fused op =
        test::make_op(f16, {{"x", x}, {"y", "(496,64,128):(8192,128,1)"}}, "y = cumsum(x, axis=2)");
    return plan_of(op).threads;
  };
  EXPECT_EQ(threads_of("(496,64,128):(8192,128,1)"), 128);
  EXPECT_EQ(threads_of("(496,64,128):(0,128,1)"), 256);
}

// A block takes about a microsecond for each chunk of a row. 1301/132 of the sweep, a row of 46,968
// f32: 16.8 us by one block, 3.9 by one for each chunk.
TEST(Scan, FewRowsAreSharedIfASecondKernelTakesLess) {
  struct Row {
    const char* what;
    Fused op;
    int row_threads, register_vectors, splits;
  };
  const Row rows[] = {
      {"a block holds it", scan("8192:1", f32), 512, 4, 1},
      {"a large block holds it", scan("9122:1", f32), 1024, 3, 1},
      {"a chunk for each block", scan("46968:1", f32), 256, 0, 46},
      {"as many for each as for the others", scan("14080745:1", f32), 256, 0, 492},
      {"several rows", scan("(8,30000):(30000,1)", f32), 256, 0, 30},
      {"so many bytes that to read them again takes longer", scan("(60,20000):(20000,1)", f32), 256,
       0, 1},
      {"enough rows for the device", scan("(132,20000):(20000,1)", f32), 512, 0, 1},
      {"columns", scan("(2000,3):(3,1)", f32, kAcross), 64, 0, 8},
      {"two columns, without idle threads", scan("(6608,2):(2,1)", bf16, kAcross), 128, 0, 13},
      {"a few chunks of columns", scan("(1102,333):(333,1)", f16, kAcross), 64, 0, 1},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    const Plan plan = plan_of(row.op);
    const Scan& scan = std::get<Scan>(plan.family);
    EXPECT_EQ(scan.row_threads, row.row_threads);
    EXPECT_EQ(scan.register_vectors, row.register_vectors);
    EXPECT_EQ(scan.splits, row.splits);
  }
}

// 2903/73 of the sweep, 364,393 bf16: 5.44 us by 45 blocks of four vectors a thread, 4.52 by 178 of
// one.
TEST(Scan, SharedRowsHaveAChunkForEachBlockThatRunsAtOnce) {
  const auto shape = [](const std::string& layout, std::optional<int> unroll = {}) {
    Fused op = scan(layout);
    op.tuning.unroll = unroll;
    const Plan plan = plan_of(op);
    return std::pair(plan.unroll, rows_of(plan)->splits);
  };
  EXPECT_EQ(shape("364393:1"), std::pair(1, 178));
  EXPECT_EQ(shape("970926:1"), std::pair(2, 238)) << "by one 475 blocks";
  EXPECT_EQ(shape("3883704:1"), std::pair(4, 475));
  EXPECT_EQ(shape("(2,364393):(364393,1)"), std::pair(1, 178));
  EXPECT_EQ(shape("364393:1", 4), std::pair(4, 45)) << "pinned";
}

TEST(Scan, ColumnsAreShiftedOnlyIfNoVectorsOfAWordAreAligned) {
  EXPECT_EQ(plan_of(scan("(4097,9632):(9632,1)", f16, kAcross)).vector, 8);
  const Plan even = plan_of(scan("(4097,9630):(9630,1)", f16, kAcross));
  EXPECT_EQ(even.vector, 2);
  EXPECT_FALSE(even.operands[0].shifted);
  const Plan odd = plan_of(scan("(4097,9631):(9631,1)", f16, kAcross));
  EXPECT_EQ(odd.vector, 2) << "few columns: wider vectors would leave few blocks";
  EXPECT_TRUE(odd.operands[0].shifted);
  Fused many = scan("(4097,65521):(65521,1)", f16, kAcross);
  many.tuning.unroll = 4;  // not by strips of slabs
  EXPECT_EQ(plan_of(many).vector, 8);
  // 814/5 of the sweep: 4.2 us with two, 3.0 with one.
  EXPECT_EQ(plan_of(scan("(382,513):(513,1)", f16, kAcross)).vector, 1);
}

// Cumsum of a middle axis, f16: 268 us by strips of 16 vectors, 228 by 32.
TEST(Scan, StripsOfManyShiftedColumnsAreWide) {
  const auto strip = [](const char* layout, DType dtype) {
    Fused op = scan(layout, dtype, "y = cumsum(x, axis=1)");
    op.tuning.unroll = 2;  // not by strips of slabs
    const Plan plan = plan_of(op);
    return plan.threads / rows_of(plan)->row_threads;
  };
  EXPECT_EQ(strip("(16,2048,4095):(8386560,4095,1)", f16), 32);
  EXPECT_EQ(strip("(16,2048,4095):(8386560,4095,1)", f32), 32);
  EXPECT_EQ(strip("(16,2048,4096):(8388608,4096,1)", f16), 16);
  EXPECT_EQ(strip("(2,2048,4095):(8386560,4095,1)", f16), 16) << "blocks would be few";
}

// 2704/66 of the sweep: weights split the columns into modes that follow one another in memory.
TEST(Scan, StripsGoOnFromOneModeToTheNext) {
  const auto strip = [](const char* w) {
    Fused op = scan("(8071,513,3):(1539,3,1)", f32, "y = cumsum(x * w, axis=0)");
    op.tensors.push_back({.name = "w", .dtype = f32, .layout = w});
    const Plan plan = plan_of(op);
    EXPECT_EQ(plan.extents.front(), Dim(3));
    return plan.threads / rows_of(plan)->row_threads;
  };
  EXPECT_EQ(strip("(1,1,3):(0,0,1)"), 8);
  EXPECT_EQ(strip("(1,513,1):(0,1,0)"), 8);
}

// 2705/97 of the sweep, running sums of 17 f32 columns: 67.6 us by strips of 16, which cut a row
// each, 56 by 32. 2933/146, 66,590 by pairs, whose strips of 16 are a line, but lie across two: 406
// us, then 273.
TEST(Scan, StripsOfManyNarrowVectorsAreWide) {
  const auto shape = [](const char* layout, const char* formula, bool masked) {
    Fused op = scan(layout, f32, formula);
    if (masked) op.tensors.push_back({.name = "m", .dtype = b8, .layout = layout});
    const Plan plan = plan_of(op);
    return std::tuple(plan.vector, plan.threads, plan.threads / rows_of(plan)->row_threads);
  };
  const char* const sums = "y = cumsum(x, axis=1)";
  EXPECT_EQ(shape("(1410,387,17):(31347,81,1)", sums, false), std::tuple(1, 512, 32));
  EXPECT_EQ(shape("(200,387,17):(31347,81,1)", sums, false), std::tuple(1, 512, 16))
      << "the cache completes rows";
  const char* const masked = "y = cumsum(where(m, x, 0.0), axis=0)";
  EXPECT_EQ(shape("(1101,66590):(66590,1)", masked, true), std::tuple(2, 512, 32));
  EXPECT_EQ(shape("(1101,66592):(66592,1)", masked, true), std::tuple(4, 256, 16)) << "aligned";
}

// Running sums of roots, 2707/16 of the sweep: 98.7 us by 274 blocks, of which some multiprocessors
// have three and most two, 84.9 by 548.
TEST(Scan, StripsOfColumnsAreSpreadEvenly) {
  const auto shape = [](const char* layout, DType dtype, const char* formula = kAcross) {
    const Plan plan = plan_of(scan(layout, dtype, formula));
    return std::pair(plan.threads, plan.threads / rows_of(plan)->row_threads);
  };
  const char* const roots = "y = cumsum(sqrt(abs(x) + 0.5), axis=0)";
  EXPECT_EQ(shape("(1460,17533):(17533,1)", bf16, roots), std::pair(128, 8));
  EXPECT_EQ(shape("(1460,17533):(17533,1)", bf16), std::pair(256, 16)) << "sectors are cut";
  EXPECT_EQ(shape("(1460,21000):(21000,1)", bf16), std::pair(256, 8)) << "of a line";
  EXPECT_EQ(shape("(1460,16800):(16800,1)", f32), std::pair(256, 16)) << "as many on each";
  EXPECT_EQ(shape("(513,9891):(9891,1)", f32, roots), std::pair(256, 16)) << "large elements";
}

// 2711/81 of the sweep, 257 f16 and weights: 145 us by two steps of a warp, of which the second has
// two lanes, 106 by three of half a warp.
TEST(Scan, RowsOfOneChunkHaveHalfTheThreadsIfThatLeavesFewerLanesIdle) {
  const auto shape = [](const char* layout) {
    const Plan plan = plan_of(scan(layout, f16, "y = cumsum(x)"));
    EXPECT_EQ(plan.vector, 8);
    return std::pair(rows_of(plan)->row_threads, rows_of(plan)->register_vectors);
  };
  EXPECT_EQ(shape("(231278,257):(257,1)"), std::pair(16, 3));
  EXPECT_EQ(shape("(231278,256):(256,1)"), std::pair(32, 1)) << "no lane is idle";
  EXPECT_EQ(shape("(29810,1023):(1023,1)"), std::pair(64, 3)) << "five steps are too long";
  EXPECT_EQ(shape("(7840,257):(257,1)"), std::pair(32, 2)) << "few rows";
}

// 1001/16 of the sweep: 155 us by 8 threads a column, whose vectors are shifted.
TEST(Scan, ShortColumnsHaveAThreadEachThatHoldsThem) {
  const auto vector_of = [](const std::string& layout, DType dtype) {
    const Plan plan = plan_of(scan(layout, dtype, kAcross));
    EXPECT_EQ(rows_of(plan)->row_threads, 1);
    EXPECT_EQ(std::ranges::count(plan.operands, true, &Operand::shifted), 0);
    return plan.vector;
  };
  EXPECT_EQ(vector_of("(19,1650387):(1650387,1)", f32), 1);
  EXPECT_EQ(vector_of("(19,1650388):(1650388,1)", f32), 1) << "32 registers hold the column";
  EXPECT_EQ(vector_of("(5,1650388):(1650388,1)", f32), 4);
  EXPECT_EQ(vector_of("(5,165038):(165038,1)", f32), 1) << "a thread each, while there is room";
  EXPECT_EQ(vector_of("(19,1650388):(1650388,1)", bf16), 2);
  EXPECT_EQ(vector_of("(19,1650387):(1650387,1)", bf16), 1);
}

// 2903/162 of the sweep: 224 us by single elements, of which each warp stores two sectors in parts,
// 195 by pairs.
TEST(Scan, ShortOddColumnsOfWordsAreShiftedByPairs) {
  const auto vector_of = [](const std::string& layout, DType dtype) {
    const Plan plan = plan_of(scan(layout, dtype, "y = cumsum(x, axis=1)"));
    EXPECT_EQ(rows_of(plan)->row_threads, 1);
    EXPECT_EQ(plan.operands[0].shifted, plan.operands[1].shifted);
    return plan.operands[0].shifted ? plan.vector : 0;
  };
  EXPECT_EQ(vector_of("(2887,12,2047):(24564,2047,1)", f32), 2);
  EXPECT_EQ(vector_of("(28,12,2047):(24564,2047,1)", f32), 0) << "a thread each";
  EXPECT_EQ(vector_of("(2887,12,2048):(24576,2048,1)", f32), 0) << "aligned";
  EXPECT_EQ(vector_of("(2887,17,2047):(34799,2047,1)", f32), 0) << "registers for one column";
  EXPECT_EQ(vector_of("(2887,12,2047):(24564,2047,1)", bf16), 0);
}

// 2501/29 of the sweep, 18 columns: 1.72 us by a thread each, 1.43 by 8.
TEST(Scan, ShortColumnsAreSharedIfTheyAreFew) {
  const auto row_threads = [](const std::string& layout) {
    return rows_of(plan_of(scan(layout, f32, kAcross)))->row_threads;
  };
  EXPECT_EQ(row_threads("(32,18):(18,1)"), 8);
  EXPECT_EQ(row_threads("(32,511):(511,1)"), 8);
  EXPECT_EQ(row_threads("(32,512):(512,1)"), 1);
  EXPECT_EQ(row_threads("(16,18):(18,1)"), 1) << "16 registers hold the column";
}

// 1802/61 of the sweep: 4.5 times the sectors, each stored in parts, by neighbours.
TEST(Scan, ThreadsTakeTurnsDownColumnsThatShareSectorsWithTheRowsBelow) {
  const auto in_turns = [](const std::string& layout, DType dtype) {
    const Plan plan = plan_of(scan(layout, dtype, "y = cumsum(x, axis=1)"));
    return takes_turns(plan, std::get<Scan>(plan.family));
  };
  EXPECT_TRUE(in_turns("(210,8191,3):(24573,3,1)", f32));
  EXPECT_TRUE(in_turns("(210,8191,2):(16382,2,1)", f32));
  EXPECT_TRUE(in_turns("(210,8191,3):(24573,3,1)", f16));
  EXPECT_TRUE(in_turns("(210,8191,7):(57337,7,1)", f16));
  EXPECT_FALSE(in_turns("(31,16385,9):(147465,9,1)", f32)) << "9 rows in 10 sectors";
  EXPECT_FALSE(in_turns("(130,8191,4):(32764,4,1)", f32)) << "16 values to exchange";
  EXPECT_FALSE(in_turns("(31,16384,8):(131072,8,1)", f32)) << "a row is a sector";
  EXPECT_FALSE(in_turns("(31,16384,3):(524288,32,1)", f32)) << "the row below is far away";
  EXPECT_FALSE(in_turns("(16,2048,4096):(8388608,4096,1)", f32));
  EXPECT_FALSE(in_turns("(4,19,1650387):(31357353,1650387,1)", f32)) << "a thread has a column";
}

// Totals of 8 warps are scanned by the 8 lanes that a warp has of each group.
TEST(Scan, BlocksThatTakeTurnsHaveAsManyWarpsAsAWarpHasLanesOfAColumn) {
  for (const char* const layout : {"(210,8191,3):(24573,3,1)", "(210,8191,5):(40955,5,1)",
                                   "(60,30000,3):(90000,3,1)", "(97,4095,7):(28665,7,1)"}) {
    const Plan plan = plan_of(scan(layout, f32, "y = cumsum(x, axis=1)"));
    EXPECT_EQ(plan.threads, 256) << layout;
    EXPECT_EQ(rows_of(plan)->row_threads, 64) << layout;
  }
}

TEST(Scan, TheSecondKernelHasTheBlocksOfTheFirst) {
  const Plan plan = plan_of(scan("(1000000,64):(64,1)", bf16, kAcross));
  EXPECT_EQ(units_per_block(plan), 8);
  EXPECT_EQ(total_units(plan), 8);
  EXPECT_EQ(blocks_per_unit(plan), 131);
  EXPECT_EQ(combining_blocks(plan), 131);
  Fused sum = scan("100000000:1", bf16, "y = sum(x)");
  sum.tensors[1].layout = parse_layout("1:0");
  EXPECT_EQ(combining_blocks(plan_of(sum)), 1);
}

TEST(Scan, ThreadsHoldFewerRowsOfWideAccumulators) {
  EXPECT_EQ(plan_of(scan("(8192,4096):(4096,1)", i8, kAcross)).vector, 8);
  EXPECT_EQ(plan_of(scan("(8192,4096):(4096,1)", i8)).vector, 16);
  EXPECT_EQ(plan_of(scan("(8192,4096):(4096,1)", i8, "y = cummax(x, axis=0)")).vector, 16);
}

TEST(Scan, GoesThroughNestedModesInTheOrderOfTheirCoordinates) {
  const Plan plan = plan_of(scan("(3,(8,50)):(400,(50,1))", f32, "y = cumsum(x, reverse=true)"));
  EXPECT_EQ(extents_of(plan), "8 50 3");
  const Scan& backward = std::get<Scan>(plan.family);
  EXPECT_TRUE(backward.along());
  EXPECT_EQ(backward.count, 2U);
  EXPECT_EQ(plan.vector, 1);
  EXPECT_EQ(backward.direction, Direction::backward);
}

TEST(Scan, HonoursTuning) {
  Fused op = scan("(8192,4096):(4096,1)");
  op.tuning = {.threads = 256, .unroll = 2};
  const Plan plan = plan_of(op);
  EXPECT_EQ(plan.threads, 256);
  EXPECT_EQ(plan.unroll, 2);
  EXPECT_EQ(rows_of(plan)->row_threads, 256);
  const auto refused = [](Fused bad, Tuning tuning) {
    bad.tuning = tuning;
    try {
      (void)plan_of(bad);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_spec);
      return error.where();
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refused(op, {.threads = 64}), "/tuning/threads");
  EXPECT_EQ(refused(op, {.unroll = 8}), "/tuning/unroll");
  EXPECT_EQ(refused(scan("(64,65536):(65536,1)", bf16, kAcross), {.threads = 96}),
            "/tuning/threads");
}

TEST(Scan, RefusesMoreAccumulatorsThanABlockHasRoomFor) {
  std::string formula = "y = x";
  for (int i = 0; i < 400; ++i) formula += " + cumsum(x * " + std::to_string(i) + ".5)";
  try {
    (void)plan_of(scan("(64,65536):(65536,1)", f64, formula));
    ADD_FAILURE() << "planned";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_NE(std::string(error.what()).find("so many scans"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tilejit::plan
