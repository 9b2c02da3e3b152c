// Maps: the mode along which vectors are counted first, and vectors of operands with gaps.
#include <gtest/gtest.h>

#include "plan/plans.hpp"
#include "support/specs.hpp"

namespace tilejit::plan {
namespace {

TEST(Maps, CountFirstAlongTheModeWithinAnInputsSectors) {
  struct Row {
    const char* what;
    DType dtype;
    const char *x, *y;
    std::size_t first;
  };
  constexpr Row kRows[] = {
      {"rows of three to three rows", f32, "(3,9849132):(1,3)", "(3,9849132):(9849132,1)", 1},
      {"pairs of another mode than the next one", f32, "(6,2,720,4480):(8960,1,53760,2)",
       "(6,2,720,4480):(6451200,3225600,4480,1)", 2},
      {"little between two rows", f32, "(3,9849):(1,3)", "(3,9849):(9849,1)", 0},
      {"in the output's order", f32, "(3,9849132):(9849136,1)", "(3,9849132):(9849132,1)", 0},
      {"every third element of one row", f32, "(3,9849132):(29547396,3)", "(3,9849132):(9849132,1)",
       0},
  };
  for (const Row& row : kRows) {
    const Plan plan = plan_of(test::make_op(row.dtype, {{"x", row.x}, {"y", row.y}}, "y = x"));
    ASSERT_TRUE(std::holds_alternative<Map>(plan.family)) << row.what;
    EXPECT_EQ(std::get<Map>(plan.family).first, row.first) << row.what;
  }
}

// An element of a vector touches as many lines as its neighbours in a warp are apart.
TEST(Maps, HaveShorterVectorsIfElementsTouchManyLines) {
  struct Row {
    const char* what;
    DType in, out;
    const char *x, *y;
    int least, most;  // elements of a vector
  };
  constexpr Row kRows[] = {
      {"bytes of every second f32", f32, i8, "(8388608):(2)", "(8388608):(1)", 2, 8},
      {"bytes of every second f16", f16, i8, "(4096,4096):(8192,2)", "(4096,4096):(4096,1)", 2, 8},
      {"bytes of all f32", f32, i8, "(8388608):(1)", "(8388608):(1)", 4, 4},
      {"every second f32, which memory takes longer for", f32, f32, "(8388608):(2)",
       "(8388608):(1)", 4, 4},
      {"every second f32 of an input that repeats", f32, f32, "(40,2,256,64):(0,1,128,2)",
       "(40,2,256,64):(32768,16384,64,1)", 1, 2},
      {"a small matrix transposed, by few blocks", f32, f32, "(25,100):(1,25)", "(25,100):(100,1)",
       1, 1},
      {"every fourth bf16, and those between along other modes", bf16, bf16,
       "(256,2,2,64,16):(64,1,2,16384,4)", "(256,2,2,64,16):(4096,2048,1024,16,1)", 2, 4},
      {"unknown strides", f32, i8, "(8388608):(S)", "(8388608):(1)", 16, 16},
  };
  for (const Row& row : kRows) {
    Fused op = test::make_op(row.in, {{"x", row.x}, {"y", row.y}}, "y = x");
    op.tensors[1].dtype = row.out;
    const Plan plan = plan_of(op);
    ASSERT_TRUE(std::holds_alternative<Map>(plan.family)) << row.what;
    EXPECT_GE(plan.vector, row.least) << row.what;
    EXPECT_LE(plan.vector, row.most) << row.what;
  }
}

// 2934/110 of the sweep: 25.1 us by elements, 20.2 by pairs.
TEST(Maps, ArePeeledByVectorsThatBeginTogetherInAllOutputs) {
  const auto plan = [](const char* layout_of_z) {
    const char* const layout = "(1963,7,429):(3003,429,1)";
    return plan_of(test::make_op(bf16, {{"x", layout}, {"y", layout}, {"z", layout_of_z}},
                                 "y = x + 1; z = x * x"));
  };
  const Plan pairs = plan("(1963,7,429):(429,842127,1)");
  EXPECT_TRUE(pairs.peeled);
  EXPECT_EQ(pairs.vector, 2);
  EXPECT_EQ(plan("(1963,7,429):(3010,430,1)").vector, 1) << "every second row begins elsewhere";
}

// 2912/56 of the sweep: 337 us by four elements a thread, 303 by one.
TEST(Maps, TakeOneVectorIfBurstsWithGapsPassEnoughBytes) {
  const auto unroll_of = [](const std::string& x) {
    return plan_of(test::make_op(f32,
                                 {{"x", "(4830672,3):" + x},
                                  {"z", "(4830672,3):" + x},
                                  {"y", "(4830672,3):(3,1)"}},
                                 "y = silu(x) * z"))
        .unroll;
  };
  EXPECT_EQ(unroll_of("(67,1)"), 1);
  EXPECT_GT(unroll_of("(4,1)"), 1);
}

// 2914/184 of the sweep, rows of 3,000 bf16 that repeat 96 times: 19.5 us by two vectors a thread,
// 17.9 by one.
TEST(Maps, TakeOneVectorIfTheyHardlyRead) {
  const auto unroll_of = [](const std::string& x, const std::string& y) {
    return plan_of(test::make_op(bf16, {{"x", x}, {"y", y}}, "y = x")).unroll;
  };
  EXPECT_EQ(unroll_of("(84,96,3000):(3000,0,1)", "(84,96,3000):(288000,3000,1)"), 1);
  EXPECT_EQ(unroll_of("(84,9,3000):(3000,0,1)", "(84,9,3000):(27000,3000,1)"), 2) << "4.5 MB";
  EXPECT_EQ(unroll_of("(8400,2,3000):(3000,0,1)", "(8400,2,3000):(6000,3000,1)"), 2)
      << "50 MB read";
}

// The device starts blocks of 4 KB about as fast as memory moves these.
TEST(Maps, HaveSmallBlocksIfRowsArePeeledAndAThreadMovesMuch) {
  struct Row {
    const char* what;
    DType in, out;
    const char* rows;
    int threads;
  };
  constexpr Row kRows[] = {
      {"odd rows of 32 bytes a thread", f32, f32, "(15048,257):(259,1)", 128},
      {"of 20", f32, i8, "(15048,257):(259,1)", 256},
      {"whole rows", f32, f32, "(15048,256):(260,1)", 256},
  };
  for (const Row& row : kRows) {
    Fused op = test::make_op(row.in, {{"x", row.rows}, {"y", row.rows}}, "y = x");
    op.tensors[1].dtype = row.out;
    const Plan plan = plan_of(op);
    ASSERT_TRUE(std::holds_alternative<Map>(plan.family)) << row.what;
    EXPECT_EQ(plan.threads, row.threads) << row.what;
  }
}

// Two chunks and a shift take dozens of instructions; an element in the L1 cache takes one.
TEST(Maps, LoadWideElementsThatPeeledRowsRepeatOneByOne) {
  struct Row {
    const char* what;
    DType weights;
    const char* layout;
    Reach reach;
    bool shifted;
  };
  constexpr Row kRows[] = {
      {"of each row", f32, "(5551,153):(0,1)", Reach::strided, false},
      {"of two bytes", bf16, "(5551,153):(0,1)", Reach::contiguous, true},
      {"not repeated", f32, "(5551,153):(154,1)", Reach::contiguous, true},
  };
  for (const Row& row : kRows) {
    Fused op = test::make_op(
        row.weights, {{"x", "(5551,153):(153,1)"}, {"w", row.layout}, {"y", "(5551,153):(153,1)"}},
        "y = x * w");
    const Plan plan = plan_of(op);
    ASSERT_TRUE(std::holds_alternative<Map>(plan.family) && plan.peeled) << row.what;
    EXPECT_EQ(plan.operands[1].reach, row.reach) << row.what;
    EXPECT_EQ(plan.operands[1].shifted, row.shifted) << row.what;
    EXPECT_FALSE(plan.operands[0].shifted) << row.what;
  }
}

}  // namespace
}  // namespace tilejit::plan
