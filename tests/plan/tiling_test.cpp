// Tiles through shared memory: their sides, the threads that take them, and their banks.
#include "tile/tiling.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "device/scale.hpp"
#include "plan/plans.hpp"
#include "support/specs.hpp"
#include "tilejit/error.hpp"
#include "tilejit/tv.hpp"

namespace tilejit::plan {
namespace {

Fused transpose(DType dtype, const std::string& x, const std::string& y) {
  return test::make_op(dtype, {{"x", x}, {"y", y}}, "y = x");
}

TEST(Tiling, SidesFollowDtypesAndExtents) {
  struct Row {
    const char* what;
    DType dtype;
    const char *x, *y;
    int vector, columns, rows, threads, unroll;
    bool ragged_columns, ragged_rows;
  };
  constexpr const char *kX = "(16384,8192):(1,16384)", *kY = "(16384,8192):(8192,1)";
  constexpr Row kRows[] = {
      {"1 byte", u8, kX, kY, 16, 128, 256, 128, 1, false, false},
      {"2 bytes", f16, kX, kY, 8, 128, 128, 256, 1, false, false},
      {"4 bytes", f32, kX, kY, 4, 64, 64, 256, 1, false, false},
      {"8 bytes", f64, kX, kY, 2, 32, 32, 256, 1, false, false},
      {"few tiles: smaller ones", f16, "(512,512):(1,512)", "(512,512):(512,1)", 2, 32, 32, 256, 1,
       false, false},
      {"tiles that would be half empty", bf16, "(133100,70):(1,133100)", "(133100,70):(70,1)", 2,
       32, 64, 256, 2, false, false},
      {"elements that come one by one", f32, "(159357,80):(1,159357)", "(159357,80):(80,1)", 1, 32,
       64, 256, 8, false, false},
      {"a short mode", f32, "(1048576,16):(16,1)", "(1048576,16):(1,1048576)", 4, 256, 16, 256, 1,
       false, false},
      {"a short mode that smaller vectors divide", f16, "(400000,36):(36,1)",
       "(400000,36):(1,400000)", 4, 256, 64, 256, 4, false, false},
      {"few squares", f16, "(256,384):(1,256)", "(256,384):(384,1)", 2, 32, 32, 256, 1, false,
       false},
      {"few tiles: one square a thread", bf16, "(4336,176):(1,4336)", "(4336,176):(176,1)", 2, 32,
       32, 256, 1, false, false},
      {"few tiles: two squares", bf16, "(9630,100):(1,9630)", "(9630,100):(100,1)", 2, 64, 32, 256,
       2, false, false},
      {"few tiles of long rows: one square", f16, "(16,180,312):(1,16,2880)",
       "(16,180,312):(56160,312,1)", 2, 64, 16, 256, 1, false, false},
      {"pairs that would be shifted", f16, "(501,129):(1,501)", "(501,129):(129,1)", 1, 32, 16, 256,
       2, false, false},
      {"few tiles of single words", f32, "(1023,49):(1,1023)", "(1023,49):(49,1)", 1, 16, 16, 256,
       1, false, false},
      {"pieces of four elements", f16, "(29916,224):(1,29916)", "(29916,224):(224,1)", 4, 64, 64,
       256, 1, false, false},
      {"ragged", f32, "(9000,7002):(1,9000)", "(9000,7002):(7004,1)", 4, 64, 64, 256, 1, true,
       false},
      {"odd rows of the output, shifted", f16, "(8191,8193):(1,8191)", "(8191,8193):(8193,1)", 8,
       128, 128, 256, 1, true, true},
      {"odd rows of large elements", f32, "(8191,8193):(1,8191)", "(8191,8193):(8193,1)", 1, 128,
       32, 256, 16, false, false},
      {"12 columns by 16", f32, "(2509939,12):(1,2509939)", "(2509939,12):(12,1)", 1, 12, 192, 192,
       12, false, false},
      {"80 columns by 128", f16, "(937728,80):(1,937728)", "(937728,80):(80,1)", 8, 80, 128, 160, 1,
       false, false},
      {"576 columns by 96, of which there is one tile more than of 128", f16,
       "(33520,576):(1,33520)", "(33520,576):(576,1)", 8, 96, 128, 192, 1, false, false},
      {"fewer squares of 8 than threads", f16, "(2816,2816):(1,2816)", "(2816,2816):(2816,1)", 4,
       64, 64, 256, 1, false, false},
      {"symbolic", f32, "(M,N):(1,M)", "(M,N):(N,1)", 1, 64, 64, 256, 16, false, false},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.what);
    Fused op = transpose(row.dtype, row.x, row.y);
    if (!std::holds_alternative<Tile>(plan_of(op).family)) op.tuning.threads = row.threads;
    const Plan plan = plan_of(op);  // boxes have no knobs
    const Tile& tile = std::get<Tile>(plan.family);
    EXPECT_EQ(plan.vector, row.vector);
    EXPECT_EQ(tile.columns, row.columns);
    EXPECT_EQ(tile.rows, row.rows);
    EXPECT_EQ(plan.threads, row.threads);
    EXPECT_EQ(plan.unroll, row.unroll);
    EXPECT_EQ(plan.ragged, row.ragged_columns);
    EXPECT_EQ(tile.ragged, row.ragged_rows);
    EXPECT_EQ(tile.columns / plan.vector * (tile.rows / plan.vector), plan.threads * plan.unroll);
    EXPECT_LE(shared_bytes(plan.operands, tile, plan.vector), device::kStaticSharedBytes);
  }
}

// 1002/185 of the sweep: 1.61 us as a tile, 1.04 as a map.
TEST(Tiling, OfFewElementsGainsNothing) {
  const auto is_tile = [](const char* x, const char* y) {
    return std::holds_alternative<Tile>(plan_of(transpose(f32, x, y)).family);
  };
  EXPECT_FALSE(is_tile("(37,20):(1,37)", "(37,20):(20,1)"));
  EXPECT_TRUE(is_tile("(75,133):(1,75)", "(75,133):(133,1)"));
}

/// 2703/35 of the sweep: 22.6 us by 24 blocks of one warp on a multiprocessor.
TEST(Tiling, OfSeveralInputsHasBlocksOfMoreThanOneWarp) {
  const Plan sum = plan_of(test::make_op(bf16,
                                         {{"x", "(4320,256,8):(2048,1,256)"},
                                          {"z", "(4320,256,8):(2048,8,1)"},
                                          {"y", "(4320,256,8):(2048,8,1)"}},
                                         "y = x + z"));
  EXPECT_EQ(sum.vector, 4);
  EXPECT_EQ(sum.threads, 128);
}

/// 2911/189 of the sweep: 112 us by four squares a thread, whose 256 bytes under way take 115
/// registers, 85 by two.
TEST(Tiling, OfSeveralInputsHasAsManySquaresAsRegistersHold) {
  const char* const kX = "(1416,320,64):(1,1416,453120)";
  const char* const kY = "(1416,320,64):(20480,64,1)";
  Fused copy = test::make_op(bf16, {{"x", kX}, {"y", kY}}, "y = x");
  Fused sum = test::make_op(bf16, {{"x", kX}, {"y", kY}, {"z", kY}}, "y = x + z");
  for (Fused* const op : {&copy, &sum}) op->tensors[1].dtype = f32;
  EXPECT_EQ(std::get<Tile>(plan_of(copy).family).rows, 256);
  EXPECT_EQ(std::get<Tile>(plan_of(sum).family).rows, 128);
}

/// 2711/69 of the sweep: 284 us by tiles of 64 x 64, 238 by 128 x 128.
TEST(Tiling, OfOutputsInBothOrdersHasLongSidesByPairs) {
  const auto sides = [](DType dtype) {
    const char* const across = "(50000,16,122):(1952,122,1)";
    const Plan plan = plan_of(test::make_op(
        dtype, {{"x", across}, {"y", "(50000,16,122):(1,50000,800000)"}, {"z", across}},
        "y = min(x, 1); z = x * x"));
    const Tile& tile = std::get<Tile>(plan.family);
    return std::tuple(plan.vector, tile.columns, tile.rows);
  };
  EXPECT_EQ(sides(bf16), std::tuple(2, 128, 128));
  EXPECT_EQ(sides(f32), std::tuple(2, 64, 64));
}

/// 2912/11 of the sweep: lines of 48 bytes, of which 512 follow one another.
TEST(Tiling, MergesShortLinesOfTheOnlyInput) {
  struct Row {
    const char* what;
    const char *x, *y, *formula, *extents;
  };
  constexpr const char* kY = "(24,512,1024):(524288,1024,1)";
  const Row rows[] = {
      {"lines of 24", "(24,512,1024):(1,24,12288)", kY, "y = x", "12288 1024"},
      {"lines with gaps", "(24,512,1024):(1,32,16384)", kY, "y = x", "1024 512 24"},
      {"another input in the output's order", "(24,512,1024):(1,24,12288)", kY, "y = x + z",
       "1024 512 24"},
      {"long lines", "(96,512,256):(1,96,49152)", "(96,512,256):(131072,256,1)", "y = x",
       "256 512 96"},
      {"few elements", "(8,4,60):(1,8,32)", "(8,4,60):(240,60,1)", "y = x", "60 4 8"},
  };
  for (const Row& row : rows) {
    Fused op = test::make_op(f16, {{"x", row.x}, {"y", row.y}}, row.formula);
    if (op.formula != "y = x") op.tensors.push_back({.name = "z", .dtype = f16, .layout = row.y});
    const Plan plan = plan_of(op);
    EXPECT_EQ(extents_of(plan), row.extents) << row.what;
    EXPECT_EQ(plan.extents.size() == 2, plan.operands[1].reach == Reach::transposed) << row.what;
  }
}

/// 2801/143 of the sweep: by squares of 2 by 2, whose inputs come by elements all the same, 1.84
/// us; by elements 1.50.
TEST(Tiling, OfFewElementsHasVectorsOnlyIfLoadsGain) {
  struct Row {
    const char* what;
    const char *x, *y;
    int vector;
  };
  const Row rows[] = {
      {"only stores would gain", "(1475,12):(1,1475)", "(1475,12):(12,1)", 1},
      {"loads gain, too", "(1476,12):(1,1476)", "(1476,12):(12,1)", 2},
      {"more elements than the device has threads at a time", "(3001,12):(1,3001)",
       "(3001,12):(12,1)", 2},
  };
  for (const Row& row : rows) {
    const Plan plan =
        plan_of(test::make_op(f32, {{"x", row.x}, {"z", row.x}, {"y", row.y}}, "y = silu(x) * z"));
    ASSERT_EQ(template_name(plan), "fused_tile") << row.what;
    EXPECT_EQ(plan.vector, row.vector) << row.what;
  }
}

/// A block of 32 elements of 64 bytes each: 49,152 blocks in place of 768.
TEST(Tiling, LeavesSmallMatricesToMaps) {
  const auto family_of = [](const std::string& shape, const std::string& x, const std::string& y) {
    return template_name(plan_of(transpose(bf16, shape + ":" + x, shape + ":" + y)));
  };
  EXPECT_EQ(family_of("(49152,8,4)", "(32,1,8)", "(32,4,1)"), "fused_map");
  EXPECT_EQ(family_of("(4096,64,64)", "(4096,1,64)", "(4096,64,1)"), "fused_tile");
}

TEST(Tiling, CrossesTheModeOfMostBytes) {
  const Plan plan = plan_of(test::make_op(f16,
                                          {{"a", "(64,32,16):(512,16,1)"},
                                           {"b", "(64,32,16):(1,1024,64)"},
                                           {"c", "(64,32,16):(1,1024,64)"},
                                           {"d", "(64,32,16):(32,1,2048)"},
                                           {"y", "(64,32,16):(512,16,1)"}},
                                          "y = a + b + c + d"));
  EXPECT_EQ(plan.operands[1].reach, Reach::transposed);
  EXPECT_EQ(plan.operands[2].reach, Reach::transposed);
  EXPECT_EQ(plan.operands[3].reach, Reach::strided);
  EXPECT_TRUE(plan.extents[std::get<Tile>(plan.family).mode].is(64));
}

// The first output decided alone, so that three operands were transposed in place of one.
TEST(Tiling, FollowsTheOutputsInWhoseOrderMostBytesLie) {
  const auto reach_of_first = [](const std::string& order_of_second) {
    return plan_of(test::make_op(f32,
                                 {{"a", "(999,295):(1,999)"},
                                  {"b", "(999,295):(1,999)"},
                                  {"y", "(999,295):(295,1)"},
                                  {"z", "(999,295):" + order_of_second}},
                                 "y = a + b; z = a - b"))
        .operands[2]
        .reach;
  };
  EXPECT_EQ(reach_of_first("(1,999)"), Reach::transposed);
  EXPECT_EQ(reach_of_first("(295,1)"), Reach::contiguous);
}

// Two inputs went through shared memory in place of the output.
TEST(Tiling, FollowsSeveralInputsIfTheOutputIsAlignedOrShortOrWide) {
  const auto crosses = [](DType dtype, const std::string& x, const std::string& y) {
    const Plan plan = plan_of(test::make_op(dtype, {{"a", x}, {"b", x}, {"y", y}}, "y = a - b"));
    return plan.operands[2].reach == Reach::transposed;
  };
  EXPECT_TRUE(crosses(f16, "(3348,50000):(1,3348)", "(3348,50000):(50000,1)"));
  EXPECT_TRUE(crosses(f16, "(22260,23):(1,22260)", "(22260,23):(23,1)"));
  EXPECT_FALSE(crosses(f16, "(9308,3667):(1,9308)", "(9308,3667):(3667,1)"));
  EXPECT_TRUE(crosses(f32, "(101,160439):(1,101)", "(101,160439):(160439,1)"));
}

/// All of a thread's vectors are loaded ahead if they are written out.
TEST(Tiling, LoadsShiftedInputsBehindTheBarrier) {
  const auto copies = [](const std::string& y) {
    Fused op = test::make_op(
        bf16, {{"x", "(2560,455):(1,2560)"}, {"z", "(2560,455):" + y}, {"y", "(2560,455):" + y}},
        "y = x + z");
    op.tuning.vector = 8;
    return std::get<Tile>(plan_of(op).family).copies;
  };
  EXPECT_EQ(copies("(456,1)"), 8);
  EXPECT_EQ(copies("(455,1)"), 2);
}

TEST(Tiling, ManyCrossedOperandsShareTheMemory) {
  Fused op = test::make_op(f32, {}, "y = ");
  for (int i = 0; i < 20; ++i) {
    const std::string name = "x" + std::to_string(i);
    op.tensors.push_back({.name = name, .dtype = f32, .layout = "(4096,4096):(1,4096)"});
    op.formula += (i == 0 ? "" : " + ") + name;
  }
  op.tensors.push_back({.name = "y", .dtype = f32, .layout = "(4096,4096):(4096,1)"});
  const Plan plan = plan_of(op);
  EXPECT_LE(shared_bytes(plan.operands, std::get<Tile>(plan.family), plan.vector),
            device::kStaticSharedBytes);
}

TEST(Tiling, HonoursTuning) {
  Fused op = transpose(f16, "(4096,4096):(1,4096)", "(4096,4096):(4096,1)");
  op.tuning.tile = {128, 64};
  EXPECT_EQ(std::get<Tile>(plan_of(op).family).columns, 128);
  EXPECT_EQ(std::get<Tile>(plan_of(op).family).rows, 64);
  EXPECT_EQ(plan_of(op).threads, 128);
  op.tuning.unroll = 2;
  EXPECT_EQ(plan_of(op).threads, 64);

  const auto where_of = [&](const Tuning& tuning) -> std::string {
    op.tuning = tuning;
    try {
      (void)plan_of(op);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_spec);
      return error.where();
    }
    return "no error";
  };
  EXPECT_EQ(where_of({.tile = {{512, 512}}}), "/tuning/tile") << "shared memory";
  EXPECT_EQ(where_of({.tile = {{128, 4}}}), "/tuning/tile") << "less than a vector";
  EXPECT_EQ(where_of({.tile = {{100, 64}}}), "/tuning/tile") << "no whole vectors";
  EXPECT_EQ(where_of({.tile = {{80, 128}}}), "no error");
  EXPECT_EQ(where_of({.threads = 96, .tile = {{64, 64}}}), "/tuning") << "squares left over";
  EXPECT_EQ(where_of({.threads = 128, .tile = {{32, 96}}}), "/tuning") << "parts of lines";
}

/// A warp writes a line of each of its squares, or reads vectors of a row: tile/shared_tile.cuh.
TEST(Tiling, SharedMemoryIsFreeOfBankConflicts) {
  for (const DType dtype : {u8, f16, f32, f64}) {
    SCOPED_TRACE(to_string(dtype));
    const Plan plan = plan_of(transpose(dtype, "(16384,8192):(1,16384)", "(16384,8192):(8192,1)"));
    const Tile& shape = std::get<Tile>(plan.family);
    const int vector = plan.vector, columns = shape.columns / vector, rows = shape.rows;
    const ComposedLayout swizzled = shared_layout(shape, vector, size_bytes(dtype));
    const int across = std::min(32, columns), down = std::min(32, rows / vector);
    const Layout read({{across, 32 / across}, 1}, {{1, columns}, 0});
    const Layout write({{down, 32 / down}, 1}, {{vector * columns, 1}, 0});
    const int bytes = vector * size_bytes(dtype);
    EXPECT_TRUE(bank_conflicts(read, swizzled, bytes, bytes).conflict_free());
    EXPECT_TRUE(bank_conflicts(write, swizzled, bytes, bytes).conflict_free());
    EXPECT_FALSE(bank_conflicts(write, swizzled.layout(), bytes, bytes).conflict_free())
        << "the swizzle is needed";
  }
}

/// The same of short rows, and of those whose vectors are no power of two. Swizzled and padded to
/// one, rows of 48 bf16 met in banks: 1902/101 of the sweep took 58.6 us, with 64 columns 53.6.
TEST(Tiling, SharedMemoryOfOtherRowsIsFreeOfBankConflicts) {
  for (const int bytes : {1, 2, 4}) {
    for (const int vector : {2, 4, 8, 16}) {
      const int access = vector * bytes;
      if (access < 4 || access > 16) continue;
      for (const int across : {1, 2, 3, 4, 5, 6, 10, 12, 14, 20, 28}) {
        const Tile tile{.columns = across * vector, .rows = 32 * vector};
        const ComposedLayout padded = shared_layout(tile, vector, bytes);
        SCOPED_TRACE(to_string(padded) + " of " + std::to_string(access) + " bytes");
        EXPECT_LE(cosize(padded.layout()), across * tile.rows + 32) << "a vector a row of squares";
        const int lanes = std::min(32, across * vector);  // in a row of squares
        const Layout read({lanes, 1}, {1, 0}), write({32, 1}, {vector * across, 0});
        EXPECT_TRUE(bank_conflicts(read, padded, access, access).conflict_free());
        EXPECT_TRUE(bank_conflicts(write, padded, access, access).conflict_free());
      }
    }
  }
}

/// What kernels take for granted (tile/shared_tile.cuh).
TEST(Tiling, LinesOfSquaresAreOneRowApart) {
  for (const int vector : {1, 2, 4, 16}) {
    for (const int columns : {vector, 5 * vector, 8 * vector, 12 * vector, 256}) {
      for (const int rows : {vector, 4 * vector, 5 * vector, 512}) {
        const ComposedLayout tile = shared_layout({.columns = columns, .rows = rows}, vector, 4);
        SCOPED_TRACE(to_string(tile));
        const std::int64_t pitch = vector > 1 ? tile({0, 1}) - tile({0, 0}) : 1;
        std::vector<bool> taken(static_cast<std::size_t>(cosize(tile.layout())));
        for (int row = 0; row < rows; ++row) {
          for (int column = 0; column < columns / vector; ++column) {
            const std::int64_t at = tile({column, row});
            EXPECT_EQ(at, tile({column, row - row % vector}) + row % vector * pitch);
            taken.at(static_cast<std::size_t>(at)) = true;
          }
        }
        EXPECT_EQ(std::ranges::count(taken, true), std::int64_t{columns} / vector * rows);
      }
    }
  }
}

}  // namespace
}  // namespace tilejit::plan
