// Boxes: when they are chosen, and that each walk takes every element of a box once.
#include "box/boxing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "box/extents.hpp"
#include "box/requests.hpp"
#include "core/integer.hpp"
#include "device/access.hpp"
#include "device/scale.hpp"
#include "plan/plans.hpp"
#include "support/specs.hpp"
#include "tilejit/error.hpp"

namespace tilejit::plan {
namespace {

Fused permutation(DType dtype, const std::string& x, const std::string& y) {
  return test::make_op(dtype, {{"x", x}, {"y", y}}, "y = x");
}

/// Permutations that go by boxes.
std::vector<Fused> permutations() {
  std::vector<Fused> ops = {
      permutation(bf16, "(23,3,7,3593,5):(1,578473,82639,23,1735419)",
                  "(23,3,7,3593,5):(377265,125755,17965,5,1)"),
      permutation(bf16, "(71,2048,3,9):(1,1917,71,213)", "(71,2048,3,9):(55296,27,9,1)"),
      permutation(f16, "(33,35,45976):(3218320,2,70)", "(33,35,45976):(1609160,45976,1)"),
      permutation(f32, "(8,257,40,2,8):(2,5120,16,1,640)", "(8,257,40,2,8):(164480,640,16,8,1)"),
      permutation(u8, "(100,50,6001):(600100,2,100)", "(100,50,6001):(300050,6001,1)"),
      permutation(f16, "(28,77,73,5,3):(1,28,10780,2156,786940)",
                  "(28,77,73,5,3):(84315,1095,15,3,1)"),
  };
  Fused op = permutation(f32, "(11,64,8001):(1,11,704)", "(11,64,8001):(512064,8001,1)");
  op.tensors.push_back({.name = "z", .dtype = f32, .layout = "(11,64,8001):(64,1,704)"});
  op.formula += "; z = x";
  ops.push_back(op);
  op = permutation(f32, "(39,5,8191,5):(5,1,195,1597245)", "(39,5,8191,5):(204775,40955,5,1)");
  op.tensors.push_back({.name = "w", .dtype = f32, .layout = "(39,1,8191,1):(8191,0,1,0)"});
  op.formula = "y = x - w";
  ops.push_back(op);
  return ops;
}

TEST(Boxes, AreForRunsOfSeveralOrShortModes) {
  struct Row {
    const char* what;
    DType dtype;
    const char *x, *y;
    std::string_view family;
  };
  constexpr Row kRows[] = {
      {"a run of three modes against one of two", bf16,
       "(23,3,7,3593,5):(1,578473,82639,23,1735419)", "(23,3,7,3593,5):(377265,125755,17965,5,1)",
       "fused_box"},
      {"every second element", f16, "(33,35,45976):(3218320,2,70)",
       "(33,35,45976):(1609160,45976,1)", "fused_box"},
      {"two long modes, aligned", bf16, "(4096,4096):(1,4096)", "(4096,4096):(4096,1)",
       "fused_tile"},
      {"two long modes, not aligned", f32, "(8191,8193):(1,8191)", "(8191,8193):(8193,1)",
       "fused_tile"},
      {"the same of 2 bytes, whose tiles are sheared", f16, "(8191,8193):(1,8191)",
       "(8191,8193):(8193,1)", "fused_sheared"},
      {"long runs in another order", f16, "(11008,16,256):(256,2818048,1)",
       "(11008,16,256):(4096,256,1)", "fused_map"},
      {"a short mode that the L1 cache covers", f32, "(1000000,2):(1,1000000)", "(1000000,2):(2,1)",
       "fused_map"},
      {"few elements", f32, "(8,25,40,2,4):(2,640,16,1,160)", "(8,25,40,2,4):(8000,320,8,4,1)",
       "fused_map"},
      {"symbols", f16, "(33,35,N):(70*N,2,70)", "(33,35,N):(35*N,N,1)", "fused_map"},
      {"a mode that each splits in its own way", f16, "(33,35,(8,5747)):(3218320,2,(70,560))",
       "(33,35,(7,6568)):(1609160,45976,(1,7))", "fused_map"},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(template_name(plan_of(permutation(row.dtype, row.x, row.y))), row.family) << row.what;
  }
}

// A tile of 128 rows would be half empty, or come by elements.
TEST(Boxes, AreForSidesThatFillTilesBadly) {
  struct Row {
    const char *x, *y;
  };
  constexpr Row kRows[] = {
      {"(73,1000,1536):(1,112128,73)", "(73,1000,1536):(1536000,1536,1)"},
      {"(3840,93,86):(7998,1,93)", "(3840,93,86):(7998,86,1)"},
      {"(46,2047,32):(65504,1,2047)", "(46,2047,32):(65504,32,1)"},
  };
  for (const Row& row : kRows) {
    const Plan plan = plan_of(permutation(f16, row.x, row.y));
    ASSERT_EQ(template_name(plan), "fused_box") << row.x;
    EXPECT_FALSE(std::get<Box>(plan.family).transposed.front().run.empty()) << row.x;
  }
}

// Copies by aligned chunks take long runs, or loads of another input beside them.
TEST(Boxes, CopyLongRunsOfSmallElements) {
  const auto copies = [](DType dtype, const char* formula) {
    Fused op = test::make_op(dtype, {{"x", "(8191,8193):(1,8191)"}, {"y", "(8191,8193):(8193,1)"}},
                             formula);
    if (op.formula != "y = x")
      op.tensors.push_back({.name = "z", .dtype = dtype, .layout = "(8191,8193):(8194,1)"});
    const Plan plan = plan_of(op);
    const auto* const box = std::get_if<Box>(&plan.family);
    return box != nullptr && !box->transposed.front().run.empty();
  };
  EXPECT_FALSE(copies(f16, "y = x"));
  EXPECT_TRUE(copies(f16, "y = x + z"));
  EXPECT_FALSE(copies(f32, "y = x + z"));
}

TEST(Boxes, TakeMapsByElementsInTheOutputsOrder) {
  struct Row {
    const char* what;
    const char *x, *w, *formula;
    std::string_view family;
  };
  constexpr const char *kLight = "y = x * w",
                       *kHeavy = "a = log(abs(x) + 1); y = exp(a) / (abs(w) + 1) + log(a + 2)";
  constexpr Row kRows[] = {
      {"of a light formula, which memory takes longer for", "(8685,9,11,7):(693,77,7,1)",
       "(8685,1,11,1):(11,0,1,0)", kLight, "fused_map"},
      {"of a heavy formula", "(8685,9,11,7):(693,77,7,1)", "(8685,1,11,1):(11,0,1,0)", kHeavy,
       "fused_box"},
      {"of a formula that memory hides, which is flat", "(8685,9,11,7):(693,77,7,1)",
       "(8685,1,11,1):(11,0,1,0)", "y = exp(x * w)", "fused_map"},
      {"along two modes", "(470579,3):(3,1)", "(1,3):(0,1)", kLight, "fused_map"},
      {"rows of whole vectors", "(470579,4):(4,1)", "(1,4):(0,1)", kHeavy, "fused_map"},
      {"few elements", "(47057,3):(3,1)", "(1,3):(0,1)", kHeavy, "fused_map"},
      {"of unknown extents", "(M,3):(3,1)", "(1,3):(0,1)", kHeavy, "fused_map"},
  };
  for (const Row& row : kRows) {
    Fused op = test::make_op(f32, {{"x", row.x}, {"w", row.w}, {"y", row.x}}, row.formula);
    const Plan plan = plan_of(op);
    EXPECT_EQ(template_name(plan), row.family) << row.what;
    const auto* const box = std::get_if<Box>(&plan.family);
    EXPECT_TRUE(box == nullptr || box->transposed.empty()) << row.what;
  }
}

// Stores with gaps that other blocks fill cost more than their requests (1503/83 of the sweep).
TEST(Boxes, StoreAnOutputInAnotherOrderBySectors) {
  const char *const rows = "(26,3,3,4095):(36855,12285,4095,1)",
                    *const turned = "(26,3,3,4095):(36855,1,12285,3)";
  Fused op = test::make_op(f32, {{"x", rows}, {"y", rows}, {"z", turned}}, "y = x; z = x * x");
  const Plan plan = plan_of(op);
  const auto* const box = std::get_if<Box>(&plan.family);
  ASSERT_NE(box, nullptr);
  ASSERT_EQ(box->transposed.size(), 1U);
  EXPECT_EQ(box->transposed[0].tensor, 2);
  EXPECT_EQ(box->extents[1], 3) << "whole runs of the output";
}

// So do vectors of which other blocks store the rest of a sector (2918/61 of the sweep).
TEST(Boxes, StoreShortRowsOfAnOutputBySectors) {
  const char* const x = "(4,10000,5,2,10):(20,400,80,1,2)";
  const auto plan_with = [&](const char* z) {
    Fused op = test::make_op(bf16, {{"x", x}, {"y", "(4,10000,5,2,10):(1000000,100,20,10,1)"}},
                             "y = sin(x); z = y * y * y");
    op.tensors[1].dtype = f32;
    op.tensors.push_back({.name = "z", .dtype = bf16, .layout = z});
    return plan_of(op);
  };
  const Plan cut = plan_with("(4,10000,5,2,10):(10,200,40,2000000,1)");
  const auto* const box = std::get_if<Box>(&cut.family);
  ASSERT_NE(box, nullptr);
  EXPECT_EQ(box->extents[0], 10);
  EXPECT_EQ(box->extents[3], 4) << "the rows that share sectors";
  EXPECT_EQ(std::ranges::count(box->transposed, 2, &Transposed::tensor), 1);
  const Plan whole = plan_with("(4,10000,5,2,10):(1000000,100,20,10,1)");
  EXPECT_EQ(template_name(whole), "fused_map");
}

// A heavy formula of few elements has vectors of one, so that it has threads enough.
TEST(Boxes, LeaveShortVectorsOfHeavyMapsAlone) {
  const char* const layout = "(8,64,96,2):(12288,192,2,1)";
  const Plan plan =
      plan_of(test::make_op(f32, {{"x", layout}, {"w", "(1,1,1,2):(0,0,0,1)"}, {"y", layout}},
                            "a = 1 / (1 + exp(-x)); b = max(x * a, w); y = 1 / (1 + exp(-b))"));
  EXPECT_EQ(template_name(plan), "fused_map");
  EXPECT_EQ(plan.vector, 1);
}

// It was taken for a small part, since it repeats; but each element came with a sector of its own.
TEST(Boxes, ReadRepeatedInputsByRunsIfTheirNeighboursAreFarApart) {
  const char* const y = "(20,333,97,3,7):(678321,2037,21,7,1)";
  const auto transposes = [&](const char* x) {
    const Plan plan = plan_of(test::make_op(f16, {{"x", x}, {"y", y}}, "y = x"));
    const auto* const box = std::get_if<Box>(&plan.family);
    return box != nullptr && !box->transposed.empty();
  };
  EXPECT_TRUE(transposes("(20,333,97,3,7):(1,5820,20,1940,0)"));
  EXPECT_FALSE(transposes("(20,333,97,3,7):(96903,291,3,1,0)"));
}

// 2805/186 of the sweep: 37.8 us if lanes side by side load the same elements, 34.9 by steps.
TEST(Boxes, StepAlongModesInWhichAnInputWithGapsRepeats) {
  const auto walk_of = [](const char* x) {
    const Plan plan = plan_of(test::make_op(f32,
                                            {{"x", x},
                                             {"y", "(608,4,64,72):(18432,4608,72,1)"},
                                             {"z", "(608,4,64,72):(288,1,175104,4)"}},
                                            "y = x; z = x * 0.5"));
    return std::get<Box>(plan.family).direct.modes;
  };
  using Order = std::vector<std::size_t>;
  EXPECT_EQ(walk_of("(608,4,64,72):(1,43776,0,608)"), (Order{0, 2, 1}));
  EXPECT_EQ(walk_of("(608,4,64,72):(18432,4608,72,1)"), (Order{0, 1, 2}));
}

// Boxes of 16 x 30 x 17 cut the output's rows of 53; two sides must give way to whole rows.
TEST(Boxes, HaveWholeShortRowsOfAnOutputBesideInputsInTwoOtherOrders) {
  Fused op = permutation(bf16, "(17,8191,53):(8191,1,139247)", "(17,8191,53):(434123,53,1)");
  op.tensors.push_back({.name = "z", .dtype = bf16, .layout = "(17,8191,53):(1,901,17)"});
  op.formula = "y = x + z";
  const Plan plan = plan_of(op);
  ASSERT_EQ(template_name(plan), "fused_box");
  EXPECT_EQ(std::get<Box>(plan.family).extents.front(), 53);
  EXPECT_LT(cycles_of_meetings(plan, std::get<Box>(plan.family).extents), 0.1);
}

// 7 x 1168 elements took registers of half of the threads, and left a quarter of them idle.
TEST(Boxes, AreShorterWhereRunsAreLongAnyway) {
  const auto box_of = [](const Fused& op) {
    const Plan plan = plan_of(op);
    const auto* const box = std::get_if<Box>(&plan.family);
    return box == nullptr ? std::vector<std::int64_t>() : box->extents;
  };
  Fused op = permutation(bf16, "(840675,7):(1,840675)", "(840675,7):(7,1)");
  op.tensors.push_back({.name = "w", .dtype = bf16, .layout = "(840675,1):(1,0)"});
  op.formula = "y = x + w";
  EXPECT_EQ(box_of(op), (std::vector<std::int64_t>{7, 512}));
  const std::vector<std::int64_t> square =
      box_of(permutation(f32, "(122659,49):(1,122659)", "(122659,49):(49,1)"));
  EXPECT_EQ(square, (std::vector<std::int64_t>{49, 80})) << "runs of 320 bytes would be shorter";
}

// Boxes of 256 x 10 loaded 20 KB a multiprocessor at once: 61.5 us, by 512 x 10 53.2.
TEST(Boxes, AreNotSoShortThatLittleIsUnderWay) {
  Fused op = permutation(f16, "(64,2,10,3,10000):(200000,100000,1,12800000,10)",
                         "(64,2,10,3,10000):(600000,300000,30000,10000,1)");
  op.tensors.push_back({.name = "w", .dtype = f16, .layout = "(64,1,1,1,1):(1,0,0,0,0)"});
  op.formula = "y = min(x, w)";
  const Plan plan = plan_of(op);
  ASSERT_TRUE(std::holds_alternative<Box>(plan.family));
  EXPECT_EQ(std::get<Box>(plan.family).extents, (std::vector<std::int64_t>{512, 1, 10, 1, 1}));
}

// Sectors were fetched again for each of the four neighbours in them: 704 us, then 273.
TEST(Boxes, HaveWhatLiesBehindShortGaps) {
  const Plan plan = plan_of(permutation(f16, "(2,2,4,120,43921):(1,1756840,10,3513680,40)",
                                        "(2,2,4,120,43921):(42164160,21082080,5270520,43921,1)"));
  ASSERT_EQ(template_name(plan), "fused_box");
  const auto extent_along = [&](std::int64_t stride) {
    for (std::size_t m = 0; m < plan.extents.size(); ++m) {
      if (plan.operands[0].modes[m][0].stride.is(stride))
        return std::get<Box>(plan.family).extents[m];
    }
    return std::int64_t{0};
  };
  EXPECT_EQ(extent_along(1), 2);
  EXPECT_EQ(extent_along(10), 4);
  EXPECT_GE(extent_along(40), 64);
}

TEST(Boxes, LeavePinnedKnobsToOtherFamilies) {
  Fused op = permutations().front();
  op.tuning.tile = {32, 32};
  EXPECT_EQ(template_name(plan_of(op)), "fused_tile");
  op.tuning = {.unroll = 2};
  EXPECT_NE(template_name(plan_of(op)), "fused_box");
}

/// The part of its boxes' elements that the space has.
double fullness(const Plan& plan) {
  const Box& box = std::get<Box>(plan.family);
  double full = 1;
  for (std::size_t m = 0; m < box.extents.size(); ++m) {
    const std::int64_t extent = plan.extents[m].value(), side = box.extents[m];
    full *= static_cast<double>(extent) / static_cast<double>(core::ceil_div(extent, side) * side);
  }
  return full;
}

// 9 were taken as 8 and 1, 33 as 16, 16 and 1, so that boxes begin on sectors.
TEST(Boxes, AreNotLeftEmptyForTheSakeOfSectors) {
  Fused op = permutation(bf16, "(14,13,200,2,33):(200,5600,1,2800,72800)",
                         "(14,13,200,2,33):(171600,13200,66,33,1)");
  op.tensors.push_back(
      {.name = "z", .dtype = bf16, .layout = "(14,13,200,2,33):(13,1,182,1201200,36400)"});
  op.formula += "; z = x";
  // 77 were taken as 32, 32 and 13.
  Fused rows =
      permutation(bf16, "(5,48,32,77):(77,385,18480,1)", "(5,48,32,77):(118272,2464,77,1)");
  rows.tensors.push_back({.name = "z", .dtype = bf16, .layout = "(5,48,32,77):(32,160,1,7680)"});
  rows.formula += "; z = x";
  for (const Fused& one : {permutation(bf16, "(1000,9,9,7,15):(8505,1,9,81,567)",
                                       "(1000,9,9,7,15):(8505,945,105,15,1)"),
                           op, rows}) {
    const Plan plan = plan_of(one);
    ASSERT_EQ(template_name(plan), "fused_box");
    EXPECT_GE(fullness(plan), 0.85) << to_json(plan);
  }
}

// Runs of 5 x 3 elements of the second output share each sector with a neighbour, those of 5 x 8
// none.
TEST(Boxes, MeetInFewSectorsOfEitherOutput) {
  Fused op = permutation(f32, "(48,5,64,8,128):(1,49152,245760,6144,48)",
                         "(48,5,64,8,128):(327680,65536,1024,128,1)");
  op.tensors.push_back(
      {.name = "z", .dtype = f32, .layout = "(48,5,64,8,128):(2560,1,5,320,122880)"});
  op.formula += "; z = x";
  const Plan plan = plan_of(op);
  ASSERT_EQ(template_name(plan), "fused_box");
  EXPECT_EQ(cycles_of_meetings(plan, std::get<Box>(plan.family).extents), 0) << to_json(plan);
}

TEST(Boxes, FitAndTakeFewerCycles) {
  for (const Fused& op : permutations()) {
    const Plan plan = plan_of(op);
    SCOPED_TRACE(to_json(plan));
    const Box& box = std::get<Box>(plan.family);
    EXPECT_LE(shared_bytes(plan, box), device::kStaticSharedBytes);
    EXPECT_EQ(plan.threads % 32, 0);
    EXPECT_LE(plan.threads, 512);
    EXPECT_EQ(plan.vector, box.direct.vector);
    EXPECT_EQ(box.extents.front() % plan.vector, 0);
    EXPECT_FALSE(plan.ragged || plan.peeled);
    for (std::size_t m = 0; m < box.extents.size(); ++m) {
      EXPECT_LE(box.extents[m], plan.extents[m].value());
    }
    for (const Transposed& transposed : box.transposed) {
      const Operand& operand = plan.operands[static_cast<std::size_t>(transposed.tensor)];
      EXPECT_EQ(operand.reach, Reach::transposed);
      EXPECT_LT(cycles_of_walk(box, transposed.walk, operand),
                cycles_of_walk(box, box.direct, operand) / 2);
    }
  }
}

// 513 blocks of 256 threads leave half of the threads that multiprocessors may have idle, and rows
// of 192 by 256 threads a quarter. Two rounds of blocks, of which the second has few, are no
// better.
TEST(Boxes, KeepThreadsAtWork) {
  struct Row {
    DType dtype;
    const char *x, *y;
    std::int64_t least;  // threads in the outputs' order
  };
  constexpr Row kRows[] = {
      {bf16, "(7,513661):(1,7)", "(7,513661):(513661,1)", 480},
      {f32, "(15,197,17,77,7):(9163,137445,1,119,17)", "(15,197,17,77,7):(1805706,9163,539,7,1)",
       384},
  };
  for (const Row& row : kRows) {
    const Plan plan = plan_of(permutation(row.dtype, row.x, row.y));
    SCOPED_TRACE(to_json(plan));
    ASSERT_EQ(template_name(plan), "fused_box");
    EXPECT_GE(threads_of(std::get<Box>(plan.family).direct), row.least);
  }
}

/// The coordinates within a box of element e of the vector that thread t takes in step s, unless it
/// is outside.
std::optional<std::vector<std::int64_t>> element_of(const Box& box, const Walk& walk,
                                                    std::int64_t t, std::int64_t s,
                                                    std::int64_t e) {
  std::vector<std::int64_t> at(box.extents.size());
  for (std::size_t i = 0; i < walk.modes.size(); ++i) {
    const std::int64_t threads = walk.threads[i], steps = steps_along(box, walk, i);
    at[walk.modes[i]] = t % threads + s % steps * threads;
    if (i == 0) at[walk.modes[i]] = at[walk.modes[i]] * walk.vector + e;
    if (at[walk.modes[i]] >= box.extents[walk.modes[i]]) return std::nullopt;
    t /= threads;
    s /= steps;
  }
  return at;
}

std::size_t count_distinct(const Box& box, const Walk& walk,
                           const std::vector<std::int64_t>* pitch) {
  std::set<std::vector<std::int64_t>> seen;
  std::size_t count = 0;
  for (std::int64_t t = 0; t < threads_of(walk); ++t) {
    for (std::int64_t i = 0; i < steps_of(box, walk) * walk.vector; ++i) {
      const auto at = element_of(box, walk, t, i / walk.vector, i % walk.vector);
      if (!at) continue;
      ++count;
      std::int64_t place = 0;
      for (std::size_t m = 0; pitch != nullptr && m < at->size(); ++m) {
        place += (*at)[m] * (*pitch)[m];
      }
      seen.insert(pitch != nullptr ? std::vector{place} : *at);
    }
  }
  EXPECT_EQ(seen.size(), count);
  return count;
}

TEST(Boxes, StoreWordsOfOutputsWhoseRowsAreEven) {
  const auto vector_of = [](DType dtype, const std::string& x, const std::string& y) {
    const Plan plan = plan_of(permutation(dtype, x, y));
    EXPECT_TRUE(std::holds_alternative<Box>(plan.family)) << x;
    const Operand& output = plan.operands.back();
    EXPECT_EQ(output.access_bytes, plan.vector * size_bytes(output.dtype)) << x;
    return plan.vector;
  };
  EXPECT_EQ(vector_of(bf16, "(12,10,831,8,10):(8310,99720,1,997200,831)",
                      "(12,10,831,8,10):(664800,66480,80,10,1)"),
            2);
  EXPECT_EQ(vector_of(bf16, "(12,10,831,8,11):(9141,109692,1,1096920,831)",
                      "(12,10,831,8,11):(731280,73128,88,11,1)"),
            1);
  EXPECT_EQ(vector_of(u8, "(12,10,831,8,12):(9972,119664,1,1196640,831)",
                      "(12,10,831,8,12):(797760,79776,96,12,1)"),
            4);
  EXPECT_EQ(
      vector_of(f32, "(8,257,40,2,8):(2,5120,16,1,640)", "(8,257,40,2,8):(164480,640,16,8,1)"),
      1);  // words already
}

TEST(Boxes, LoadWordsOfInputsIfTheyStartTogether) {
  struct Row {
    const char* what;
    DType dtype;
    const char *x, *y;
    int bytes;
  };
  constexpr Row kRows[] = {
      {"546 boxes", f16, "(28,77,73,5,3):(1,28,10780,2156,786940)",
       "(28,77,73,5,3):(84315,1095,15,3,1)", 4},
      {"of bytes", u8, "(28,77,73,5,3):(1,28,10780,2156,786940)",
       "(28,77,73,5,3):(84315,1095,15,3,1)", 4},
      {"20 times as many", f16, "(28,77,73,5,60):(1,28,10780,2156,786940)",
       "(28,77,73,5,60):(1686300,21900,300,60,1)", 2},
      {"an odd inner mode", f16, "(27,77,73,5,3):(1,27,10395,2079,758835)",
       "(27,77,73,5,3):(84315,1095,15,3,1)", 2},
      {"words already", f32, "(28,77,73,5,3):(1,28,10780,2156,786940)",
       "(28,77,73,5,3):(84315,1095,15,3,1)", 4},
  };
  for (const Row& row : kRows) {
    const Plan plan = plan_of(permutation(row.dtype, row.x, row.y));
    ASSERT_TRUE(std::holds_alternative<Box>(plan.family)) << row.what;
    ASSERT_TRUE(std::get<Box>(plan.family).transposed.front().run.empty()) << row.what;
    EXPECT_EQ(plan.operands.front().access_bytes, row.bytes) << row.what;
  }
}

// 4.9 million elements of two inputs in other orders: memory takes 0.46 cycles for an element.
TEST(Boxes, LoadWordsOfInputsIfMemoryDoesNotHideRequests) {
  const auto bytes_of = [](const std::string& formula) {
    Fused op =
        permutation(f16, "(2,4,1728,352):(1,2,2816,8)", "(2,4,1728,352):(2433024,608256,352,1)");
    op.tensors.push_back({.name = "z", .dtype = f16, .layout = "(2,4,1728,352):(1,704,2816,2)"});
    op.formula = formula;
    const Plan plan = plan_of(op);
    EXPECT_TRUE(std::holds_alternative<Box>(plan.family)) << formula;
    return plan.operands.front().access_bytes;
  };
  EXPECT_EQ(bytes_of("y = max(tan(x), z)"), 4);
  EXPECT_EQ(bytes_of("y = max(x, z)"), 2);
}

TEST(Boxes, BeginOnSectorsOfOutputsWhoseRowsDoNot) {
  struct Row {
    const char* what;
    DType dtype;
    const char *x, *y;
    bool on_sectors;
  };
  constexpr Row kRows[] = {
      {"odd rows, those of a box 2.3 MB apart", f16, "(24,224,5,1025):(1,24600,5510400,24)",
       "(24,224,5,1025):(1148000,5125,1025,1)", true},
      {"aligned rows", f16, "(24,224,5,1024):(1,24576,5505024,24)",
       "(24,224,5,1024):(1146880,5120,1024,1)", false},
      {"rows of a box that begin apart", f16, "(24,223,5,1025):(1,24600,5485800,24)",
       "(24,223,5,1025):(1142875,5125,1025,1)", false},
      {"rows that would take a box more", f16, "(24,224,5,1151):(1,27624,6187776,24)",
       "(24,224,5,1151):(1289120,5755,1151,1)", false},
  };
  for (const Row& row : kRows) {
    const Plan plan = plan_of(permutation(row.dtype, row.x, row.y));
    EXPECT_EQ(std::holds_alternative<Box>(plan.family) && plan.peeled, row.on_sectors) << row.what;
    if (!row.on_sectors) continue;
    EXPECT_EQ(unit_extent(plan, 0) * size_bytes(row.dtype) % device::kSectorBytes, 0) << row.what;
    EXPECT_EQ(counted_extent(plan, 0).value(), plan.extents[0].value() + 15) << row.what;
  }
}

TEST(Boxes, WalksTakeEachElementOnce) {
  for (const Fused& op : permutations()) {
    const Plan plan = plan_of(op);
    SCOPED_TRACE(to_json(plan));
    const Box& box = std::get<Box>(plan.family);
    std::size_t elements = 1;
    for (const std::int64_t extent : box.extents) elements *= static_cast<std::size_t>(extent);
    EXPECT_EQ(count_distinct(box, box.direct, nullptr), elements);
    for (const Transposed& transposed : box.transposed) {
      EXPECT_EQ(count_distinct(box, transposed.walk, nullptr), elements);
      EXPECT_EQ(count_distinct(box, transposed.walk, &transposed.pitch), elements);
    }
  }
}

TEST(Boxes, HaveFewBankConflicts) {
  for (const Fused& op : permutations()) {
    const Plan plan = plan_of(op);
    SCOPED_TRACE(to_json(plan));
    const Box& box = std::get<Box>(plan.family);
    for (const Transposed& transposed : box.transposed) {
      const int bytes =
          size_bytes(plan.operands[static_cast<std::size_t>(transposed.tensor)].dtype);
      EXPECT_LE(32 * (bank_cycles(box, box.direct, transposed.pitch, bytes) +
                      bank_cycles(box, transposed.walk, transposed.pitch, bytes)),
                3.5);  // two accesses, and less than half of them twice
    }
  }
}

}  // namespace
}  // namespace tilejit::plan
