#include "figures/figures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "front/compiler_impl.hpp"
#include "plan/plans.hpp"
#include "support/specs.hpp"
#include "tilejit/layout_functions.hpp"

namespace tilejit::figures {
namespace {

using test::make_op;
using ::testing::HasSubstr;

const char* const kAddTransposed = "(1000,2048):(1,1000)";

std::vector<Fused> operations() {
  const std::string square = "(1024,2048):(2048,1)";
  std::vector<Fused> ops = {
      make_op(f16, {{"x", square}, {"y", square}}, "y = x"),
      make_op(f32, {{"x", "(777,99):(99,1)"}, {"y", "(777,99):(99,1)"}}, "y = x"),
      make_op(f16, {{"x", "(1024,2048):(1,1024)"}, {"y", square}}, "y = x"),
      make_op(u8, {{"x", "(1024,2048):(1,1024)"}, {"y", square}}, "y = x"),
      make_op(f16,
              {{"x", "(33,35,45976):(3218320,2,70)"}, {"y", "(33,35,45976):(1609160,45976,1)"}},
              "y = x"),
      make_op(f16, {{"x", square}, {"y", square}}, "e = exp(x - max(x))\ny = e / sum(e)"),
      make_op(f16, {{"x", "(8,131072):(131072,1)"}, {"y", "(8):(1)"}}, "y = sum(x)"),
      make_op(f32, {{"x", "(64,5):(5,1)"}, {"y", "(64):(1)"}}, "y = sum(x)"),
      make_op(f16, {{"x", "(M,N):(N,1)"}, {"y", "(M):(1)"}}, "y = sum(x)"),
      make_op(f16, {{"x", "(4096,512):(512,1)"}, {"y", "(512):(1)"}}, "y = sum(x, axis=0)"),
  };
  Fused unrolled = ops.front();
  unrolled.tuning = {.threads = 128, .vector = 2, .unroll = 3};
  ops.push_back(unrolled);
  Fused given = ops.front();
  given.tuning = {.tv = {{.thr = "(4,64):(64,1)", .val = "(16,8):(8,1)"}}};
  ops.push_back(given);
  return ops;
}

Figures figures_of_op(const Fused& op) {
  return figures_of(plan::plan_of(op), front::examples_of(op));
}

/// The law of a thread-value layout: exactly one thread and value for each element of the tile; if
/// blocks of a cluster share a row, for this block's part. A share is a separate tile.
void expect_covers(const ThreadValues& tv, const plan::Plan& plan) {
  const std::int64_t elements = product(tv.tile).value();
  EXPECT_TRUE(is_injective(tv.layout)) << to_string(tv.layout);
  EXPECT_LE(cosize(tv.layout), elements);
  const plan::Rows* const rows = plan::rows_of(plan);
  EXPECT_EQ(size(tv.layout).value() * (rows != nullptr ? rows->cluster : 1), elements);
  const std::int64_t threads = size(mode(tv.layout, 0)).value();
  if (std::holds_alternative<plan::Box>(plan.family)) {  // the rest of the last warps is idle
    EXPECT_LE(threads, plan.threads);
  } else {
    EXPECT_EQ(threads, plan.threads);
  }
}

TEST(ThreadValuesOfPlans, ReachEveryElementOfTheTileOnce) {
  for (const Fused& op : operations()) {
    const plan::Plan plan = plan::plan_of(op);
    SCOPED_TRACE(to_json(plan));
    const Figures figures = figures_of_op(op);
    expect_covers(figures.values, plan);
    EXPECT_EQ(figures.transposed.has_value(),
              std::holds_alternative<plan::Tile>(plan.family) ||
                  std::holds_alternative<plan::Sheared>(plan.family) ||
                  std::holds_alternative<plan::Box>(plan.family));
    if (figures.transposed) expect_covers(*figures.transposed, plan);
  }
}

TEST(ThreadValuesOfPlans, AreThoseOfTheTileTemplate) {
  const Fused op =
      make_op(f16, {{"x", "(1024,2048):(1,1024)"}, {"y", "(1024,2048):(2048,1)"}}, "y = x");
  const plan::Plan plan = plan::plan_of(op);
  const auto& tile = std::get<plan::Tile>(plan.family);
  const Layout direct = thread_values(plan).layout,
               transposed = transposed_values(plan, plan.operands[0]).layout;
  const int vector = plan.vector, columns = tile.columns;
  const int across = columns / vector, down = tile.rows / vector;
  for (int t = 0; t < plan.threads; ++t) {
    for (int v = 0; v < vector * plan.unroll; ++v) {  // as VectorPlace in fused_tile.cu
      const int row = (t + v * plan.threads) / across, column = (t + v * plan.threads) % across;
      EXPECT_EQ(direct(Coordinate{t, v * vector}), row * columns + column * vector);
    }
    for (int s = 0; s < plan.unroll; ++s) {  // as SquarePlace
      const int row = (t + s * plan.threads) % down, column = (t + s * plan.threads) / down;
      EXPECT_EQ(transposed(Coordinate{t, s * vector * vector}),
                row * vector * columns + column * vector);
    }
  }
}

TEST(ThreadValuesOfPlans, AreThoseOfTheTemplateOfSharedRows) {
  const Fused op = make_op(f16, {{"x", "(4194304):(1)"}, {"y", "(1):(0)"}}, "y = sum(x)");
  const plan::Plan plan = plan::plan_of(op);
  const auto& rows = std::get<plan::Rows>(plan.family);
  ASSERT_TRUE(rows.splits > 1 && rows.register_vectors > 0);
  const Layout layout = thread_values(plan).layout;
  for (int t = 0; t < plan.threads; ++t) {
    for (int s = 0; s < rows.register_vectors; ++s) {  // as Lane::load in fused_rows.cu
      EXPECT_EQ(layout(Coordinate{t, s * plan.vector}), (t + s * rows.row_threads) * plan.vector);
    }
  }
}

struct SectorCase {
  const char *name, *x, *y;
  DType dtype;
  double x_ratio, y_ratio;
};

TEST(SectorsOfRequests, AreCountedByTheLayouts) {
  const SectorCase cases[] = {
      {"contiguous", "(4096):(1)", "(4096):(1)", f16, 1, 1},
      // Four neighbours per thread, one access each: one sector per thread; 4 would suffice.
      {"every other element of 4 bytes", "(4194304):(2)", "(4194304):(1)", f32, 8, 1},
      {"every sixteenth element of 2 bytes", "(4096):(16)", "(4096):(1)", f16, 16, 1},
      // One element per thread: two in a sector.
      {"every sixteenth byte", "(4096):(16)", "(4096):(1)", u8, 16, 1},
      {"one element for all", "(4096):(0)", "(4096):(1)", f32, 1, 1},
      {"transposed", "(512,512):(1,512)", "(512,512):(512,1)", f16, 1, 1},
      // Requests start at elements 0, 2*99+58, 5*99+17, and 7*99+75: but for the first, none is
      // aligned.
      {"odd rows", "(6400,99):(1000,1)", "(6400,99):(99,1)", f64, 35.0 / 32, 1},
  };
  for (const SectorCase& row : cases) {
    SCOPED_TRACE(row.name);
    const Figures figures =
        figures_of_op(make_op(row.dtype, {{"x", row.x}, {"y", row.y}}, "y = x"));
    ASSERT_TRUE(figures.operands[0].sectors && figures.operands[1].sectors);
    EXPECT_DOUBLE_EQ(figures.operands[0].sectors->ratio(), row.x_ratio);
    EXPECT_DOUBLE_EQ(figures.operands[1].sectors->ratio(), row.y_ratio);
  }
}

TEST(SectorsOfRequests, SayWhatGivenThreadValuesCost) {
  Fused op = make_op(f16, {{"x", "(1024,1024):(1024,1)"}, {"y", "(1024,1024):(1,1024)"}}, "y = x");
  op.tuning.tv = {.thr = "(4,64):(64,1)", .val = "(16,8):(8,1)"};
  const Figures figures = figures_of_op(op);
  EXPECT_EQ(figures.operands[0].access_bytes, 16);
  EXPECT_DOUBLE_EQ(figures.operands[0].sectors->ratio(), 1);
  EXPECT_EQ(figures.operands[1].access_bytes, 2);
  EXPECT_DOUBLE_EQ(figures.operands[1].sectors->ratio(), 16);  // 32 threads in as many columns
  EXPECT_EQ(figures.blocks, 1024 / 64 * 1024 / 512);
}

TEST(FiguresOfPlans, CountBytesAndBlocks) {
  const Figures figures = figures_of_op(make_op(
      f16, {{"a", "(4096,4096):(4096,1)"}, {"b", "(4096):(1)"}, {"y", "(4096,4096):(4096,1)"}},
      "y = a + b"));
  EXPECT_EQ(figures.bytes_moved, 2 * 2 * 4096 * 4096 + 2 * 4096);
  EXPECT_EQ(figures.bytes_in_flight, 32);  // 16 bytes of a, 16 of b
  EXPECT_EQ(figures.resident_threads, 2048);
  EXPECT_EQ(figures.bytes_in_flight_a_multiprocessor(), 65536);
  EXPECT_EQ(figures.limit(), "memory");
  ASSERT_TRUE(figures.blocks && figures.predicted_ms());
  EXPECT_EQ(*figures.blocks * 256 * 8, 4096 * 4096);
  // A launch takes microseconds beside the bytes at the 3,020 GB/s that copies reach.
  const double copied = (4.0 * 4096 * 4096 + 8192) / 3020e6;
  EXPECT_GT(*figures.predicted_ms(), copied + 0.001);
  EXPECT_LT(*figures.predicted_ms(), copied + 0.004);
  ASSERT_EQ(figures.predicted.size(), 2U) << "devices of that compute capability";
  EXPECT_LT(figures.predicted[1].us, figures.predicted[0].us) << "the H200's memory is faster";
}

TEST(FiguresOfPlans, SmallProblemsTakeALaunch) {
  const Figures figures = figures_of_op(make_op(f32, {{"x", "64:1"}, {"y", "64:1"}}, "y = x"));
  EXPECT_EQ(figures.limit(), "launch");
  EXPECT_GT(*figures.predicted_ms(), 0.0009);
  EXPECT_LT(*figures.predicted_ms(), 0.0015);
}

TEST(FiguresOfPlans, WhatIsReadAgainTakesLonger) {
  const std::string rows = "(4096,65536):(65536,1)";
  Fused op = make_op(f32, {{"x", rows}, {"y", rows}}, "e = exp(x - max(x)); y = e / sum(e)");
  const Figures held = figures_of_op(op);
  op.tuning.register_vectors = 0;
  const Figures again = figures_of_op(op);
  ASSERT_TRUE(held.demand && again.demand);
  EXPECT_EQ(held.demand->again, 0);
  EXPECT_EQ(again.demand->again, 4.0 * 4096 * 65536) << "a maximum's pass has the sum, too";
  EXPECT_GT(*again.predicted_ms(), 1.2 * *held.predicted_ms());
}

TEST(FiguresOfPlans, WhatAVectorSharesIsComputedOnceForIt) {
  const auto instructions = [](const char* x, int vector) {
    Fused op = make_op(f32, {{"x", x}, {"y", "(4096,4096):(4096,1)"}}, "y = log(x)");
    op.tuning.vector = vector;
    return figures_of_op(op).demand->instructions;
  };
  const double each = instructions("(4096,4096):(4096,1)", 4);
  EXPECT_EQ(instructions("(4096,4096):(1,0)", 4), each / 4) << "a column";
  EXPECT_EQ(instructions("(4096,4096):(0,0)", 2), each / 2) << "one element";
  EXPECT_EQ(instructions("(4096,4096):(0,1)", 4), each) << "a row";
}

TEST(FiguresOfPlans, GapsBetweenElementsCountAsWholeSectors) {
  const auto bytes = [](const char* x) {
    return figures_of_op(make_op(f32, {{"x", x}, {"y", "(1024,4):(4,1)"}}, "y = x")).demand->bytes;
  };
  const double least = 2 * 4.0 * 4096;
  EXPECT_EQ(bytes("(1024,4):(4,1)"), least);
  EXPECT_EQ(bytes("(1024,4):(8,1)"), least + 4.0 * 4096) << "16 of 32 bytes";
  EXPECT_EQ(bytes("(1024,4):(8,2)"), least + 4.0 * 4096) << "every second element";
}

TEST(FiguresOfPlans, FewBlocksDoNotFillAMultiprocessor) {
  const Figures figures =
      figures_of_op(make_op(f32, {{"x", "(4096):(1)"}, {"y", "(4096):(1)"}}, "y = x"));
  EXPECT_EQ(figures.resident_threads, 256);
}

TEST(FiguresOfPlans, InPlaceCountsTwiceAndNothingIsMovedForNothing) {
  Fused op = make_op(f32, {{"x", "(1000):(1)"}}, "x = x * 2.0");
  op.tensors[0].access = Access::inout;
  EXPECT_EQ(figures_of_op(op).bytes_moved, 8000);
  op.tensors[0].layout = "(0):(1)";
  EXPECT_EQ(figures_of_op(op).bytes_moved, 0);
  EXPECT_EQ(figures_of_op(op).blocks, 0);
}

TEST(FiguresOfPlans, HeavyFormulasAreNotLimitedByMemory) {
  const std::string space = "(4194304):(1)";
  EXPECT_EQ(
      figures_of_op(make_op(f16, {{"x", space}, {"y", space}}, "y = sin(x) + cos(x)")).limit(),
      "arithmetic");
  const Figures figures = figures_of_op(
      make_op(f16, {{"x", space}, {"y", space}}, "y = exp2(exp2(exp2(exp2(exp2(exp2(x))))))"));
  EXPECT_EQ(figures.limit(), "special functions");
  EXPECT_GT(*figures.predicted_ms(), *figures.memory_ms);
}

TEST(FiguresOfPlans, SymbolsTakeTheirExamples) {
  Fused op =
      make_op(f32, {{"x", "(M,N):(N,1)"}, {"b", "(N):(1)"}, {"y", "(M,N):(N,1)"}}, "y = x + b");
  const Figures without = figures_of_op(op);
  EXPECT_FALSE(without.blocks || without.bytes_moved || without.predicted_ms());
  EXPECT_FALSE(without.operands[0].sectors);
  op.symbols = {{.name = "M", .example = 64}, {.name = "N", .example = 1000}};
  EXPECT_EQ(figures_of_op(op).bytes_moved, 4 * (2 * 64000 + 1000));
  op.symbols = {{.name = "M", .example = INT64_MAX}, {.name = "N", .example = INT64_MAX}};
  EXPECT_FALSE(figures_of_op(op).bytes_moved);
  EXPECT_FALSE(figures_of_op(op).blocks);
}

TEST(FiguresOfPlans, CountProducts) {
  const std::string square = "(4096,4096)";
  const Fused op = make_op(bf16, {{"a", square}, {"b", square}, {"d", square}}, "d = a @ b");
  const Figures figures = figures_of_op(op).parts.at(0);
  EXPECT_EQ(figures.bytes_moved, 3 * 4096 * 4096 * 2);
  EXPECT_EQ(figures.operands[0].access_bytes, 16);
  EXPECT_EQ(figures.limit(), "arithmetic");
  // 2 * 4096^3 operations at 1.98 GHz on 132 multiprocessors of 4096 in a clock.
  EXPECT_NEAR(figures.predicted_ms().value(), 0.128, 0.002);
  Fused in_f32 = op;
  for (Tensor& tensor : in_f32.tensors) tensor.dtype = f32;
  EXPECT_NEAR(figures_of_op(in_f32).parts.at(0).predicted_ms().value(), 2.05, 0.03)
      << "128 multiply-adds in a clock";
}

TEST(FiguresAsText, NameWhatDecides) {
  const Fused op = make_op(
      f16, {{"a", "(1000,2048):(2048,1)"}, {"b", kAddTransposed}, {"c", "(1000,2048):(2048,1)"}},
      "c = a + b");
  const plan::Plan plan = plan::plan_of(op);
  const std::string text = to_text(figures_of_op(op), plan);
  for (const char* part : {"fused_tile for sm_90a", "(2048,1000), innermost mode first",
                           "in f16 transposed, 8 bytes an access", "limited by memory",
                           "us on H100 SXM 80GB", "transposed tv"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(to_json(figures_of_op(op), plan), HasSubstr("\"limit\":\"memory\""));
}

}  // namespace
}  // namespace tilejit::figures
