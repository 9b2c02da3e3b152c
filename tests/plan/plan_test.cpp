#include "plan/plans.hpp"

#include <gtest/gtest.h>

#include <map>

#include "support/specs.hpp"
#include "tilejit/error.hpp"

namespace tilejit::plan {
namespace {

struct Case {
  const char* name;
  std::vector<std::pair<std::string, std::string>> tensors;  // the last is y, the output
  const char* extents;                                       // innermost first
  int vector;
  bool ragged;
  std::vector<Reach> reach;
};

constexpr Reach kC = Reach::contiguous, kB = Reach::broadcast, kS = Reach::strided,
                kX = Reach::transposed;

TEST(Plan, CoalescesAndVectorises) {
  const Case cases[] = {
      // all f16
      {"contiguous",
       {{"a", "(64,128):(128,1)"}, {"y", "(64,128):(128,1)"}},
       "8192",
       8,
       false,
       {kC, kC}},
      {"column-major",
       {{"a", "(64,128):(1,64)"}, {"y", "(64,128):(1,64)"}},
       "8192",
       8,
       false,
       {kC, kC}},
      {"symbolic", {{"a", "(M,N):(N,1)"}, {"y", "(M,N):(N,1)"}}, "M*N", 8, true, {kC, kC}},
      {"bias row",
       {{"a", "(64,128):(128,1)"}, {"b", "(128):(1)"}, {"y", "(64,128):(128,1)"}},
       "128 64",
       8,
       false,
       {kC, kC, kC}},
      {"bias column",
       {{"a", "(64,128):(128,1)"}, {"b", "(64,1):(1,0)"}, {"y", "(64,128):(128,1)"}},
       "128 64",
       8,
       false,
       {kC, kB, kC}},
      {"scalar tensor",
       {{"a", "(64,128):(128,1)"}, {"b", "1:0"}, {"y", "(64,128):(128,1)"}},
       "8192",
       8,
       false,
       {kC, kB, kC}},
      {"transposed operand",
       {{"a", "(4096,8192):(1,4096)"}, {"y", "(4096,8192):(8192,1)"}},
       "8192 4096",
       8,
       false,
       {kX, kC}},
      {"transposed operand of few elements",
       {{"a", "(256,1024):(1,256)"}, {"y", "(256,1024):(1024,1)"}},
       "1024 256",
       2,
       false,
       {kX, kC}},
      {"transposed operand of few rows",
       {{"a", "(3,128):(1,3)"}, {"y", "(3,128):(128,1)"}},
       "128 3",
       8,
       false,
       {kS, kC}},
      {"one row unaligned in an input",
       {{"a", "(64,104):(105,1)"}, {"y", "(64,104):(104,1)"}},
       "104 64",
       8,
       false,
       {kC, kC}},
      {"padded rows",
       {{"a", "(640,100):(104,1)"}, {"y", "(640,100):(104,1)"}},
       "100 640",
       8,
       true,
       {kC, kC}},
      {"odd rows",
       {{"a", "(64,99):(101,1)"}, {"y", "(64,99):(101,1)"}},
       "99 64",
       1,
       false,
       {kC, kC}},
      {"rows of even pitch",
       {{"a", "(640,99):(102,1)"}, {"y", "(640,99):(102,1)"}},
       "99 640",
       2,
       true,
       {kC, kC}},
      {"symbolic rows",
       {{"a", "(M,N):(N,1)"}, {"b", "(N):(1)"}, {"y", "(M,N):(N,1)"}},
       "N M",
       1,
       false,
       {kC, kC, kC}},
      {"nested",
       {{"a", "(8,(4,2)):(1,(8,32))"}, {"y", "(8,(4,2)):(1,(8,32))"}},
       "64",
       8,
       false,
       {kC, kC}},
      {"nested against flat",
       {{"a", "(8,(4,2)):(1,(8,32))"}, {"y", "(8,8):(1,8)"}},
       "64",
       8,
       false,
       {kC, kC}},
      {"nested, split",
       {{"a", "((4,2),8):((1,32),4)"}, {"y", "(8,8):(1,8)"}},
       "4 2 8",
       4,
       false,
       {kC, kC}},
      {"no common split",
       {{"a", "((4,6)):((6,1))"}, {"y", "((6,4)):((1,6))"}},
       "24",
       1,
       false,
       {kS, kS}},
      {"extents of 1",
       {{"a", "(1,64,1):(7,1,9)"}, {"y", "(1,64,1):(0,1,0)"}},
       "64",
       8,
       false,
       {kC, kC}},
      {"one element", {{"a", "1:0"}, {"y", "1:0"}}, "1", 8, true, {kC, kC}},
      {"zero size", {{"a", "(0,8):(8,1)"}, {"y", "(0,8):(8,1)"}}, "0", 8, false, {kC, kC}},
      {"permuted rank 4",
       {{"a", "(2,3,5,8):(120,8,24,1)"}, {"y", "(2,3,5,8):(120,40,8,1)"}},
       "8 5 3 2",
       8,
       false,
       {kC, kC}},
      {"gaps", {{"a", "(16):(2)"}, {"y", "(16):(3)"}}, "16", 1, false, {kS, kS}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Plan plan =
        plan_of(test::make_op(f16, c.tensors, c.tensors.size() == 3 ? "y = a + b" : "y = a"));
    EXPECT_EQ(extents_of(plan), c.extents);
    EXPECT_EQ(plan.vector, c.vector);
    EXPECT_EQ(plan.ragged, c.ragged);
    for (std::size_t i = 0; i < c.reach.size(); ++i)
      EXPECT_EQ(plan.operands[i].reach, c.reach[i]) << i;
  }
}

TEST(Plan, WidthsFollowDtypesAndPromises) {
  Fused cast = test::make_op(f32, {{"x", "(1024):(1)"}, {"y", "(1024):(1)"}}, "y = x");
  cast.tensors[1].dtype = f8e4m3;
  EXPECT_EQ(plan_of(cast).vector, 4);
  EXPECT_EQ(plan_of(cast).operands[0].access_bytes, 16);
  EXPECT_EQ(plan_of(cast).operands[1].access_bytes, 4);

  Fused unaligned = test::make_op(f16, {{"x", "(1024):(1)"}, {"y", "(1024):(1)"}}, "y = x");
  unaligned.tensors[1].align = 4;
  EXPECT_EQ(plan_of(unaligned).vector, 2) << "stores are not split";
  std::swap(unaligned.tensors[0].align, unaligned.tensors[1].align);
  EXPECT_EQ(plan_of(unaligned).vector, 8) << "loads are";
  EXPECT_EQ(plan_of(unaligned).operands[0].access_bytes, 4);
  EXPECT_EQ(plan_of(unaligned).operands[1].access_bytes, 16);

  Fused rows = test::make_op(f16, {{"x", "(M,N):(N,1)"}, {"b", "(N):(1)"}, {"y", "(M,N):(N,1)"}},
                             "y = x + b");
  rows.symbols = {{.name = "N", .divisible_by = 8}};
  EXPECT_EQ(plan_of(rows).vector, 8);
  EXPECT_FALSE(plan_of(rows).ragged);
}

TEST(Plan, WeightsOfWideElementsDoNotHalveVectors) {
  Fused op = test::make_op(bf16, {{"x", "(4096,6048):(6048,1)"}, {"y", "(4096,6048):(6048,1)"}},
                           "y = x * w");
  op.tensors.push_back({.name = "w", .dtype = f32, .layout = "(1,6048):(0,1)"});
  EXPECT_EQ(plan_of(op).vector, 8);
  op.formula = "y = x * w * rsqrt(mean(x * x))";
  op.axis = {1};
  EXPECT_EQ(plan_of(op).vector, 8);
  op.tensors[0].layout = op.tensors[1].layout = "(4096,6047):(6047,1)";
  op.tensors[2].layout = "(1,6047):(0,1)";
  EXPECT_EQ(plan_of(op).vector, 4) << "peeled: shifted weights have at most 16 bytes";
}

TEST(Plan, RowsArePeeledIfTheyAreMany) {
  const auto plan = [](const char* layout, const char* formula) {
    Fused op = test::make_op(f16, {{"x", layout}, {"y", layout}}, formula);
    if (std::string_view(formula).find('(') != std::string_view::npos) op.axis = {1};
    return plan_of(op);
  };
  EXPECT_TRUE(plan("(601,4095):(4097,1)", "y = x * x").peeled);
  EXPECT_FALSE(plan("(35,2835):(2837,1)", "y = x * x").peeled);
  EXPECT_TRUE(plan("(1601,393):(393,1)", "y = x * rsqrt(mean(x * x))").peeled);
  EXPECT_FALSE(plan("(139,393):(393,1)", "y = x * rsqrt(mean(x * x))").peeled);
  Fused weighted =
      test::make_op(f16, {{"x", "(139,393):(393,1)"}, {"w", "393:1"}, {"y", "(139,393):(393,1)"}},
                    "y = x * rsqrt(mean(x * x)) * w");
  weighted.axis = {1};
  EXPECT_TRUE(plan_of(weighted).peeled) << "3.4 us peeled, 6.1 by elements";
  EXPECT_TRUE(plan("(49,6969):(6969,1)", "y = cumsum(x)").peeled);
  EXPECT_FALSE(plan("(139,393):(393,1)", "y = cumsum(x)").peeled);
}

TEST(Plan, RowsOfMuchDataThatMeetSeveralWeightsAreNotPeeled) {
  const auto is_peeled = [](DType dtype, const char* x, const char* formula) {
    const char* const kWeights = "(1,509):(0,1)";
    return plan_of(test::make_op(dtype, {{"x", x}, {"w", kWeights}, {"u", kWeights}, {"y", x}},
                                 formula))
        .peeled;
  };
  constexpr const char *kTwo = "y = x / sum(x * x) * w + u", *kMuch = "(78585,509):(509,1)";
  EXPECT_FALSE(is_peeled(f16, kMuch, kTwo));
  EXPECT_TRUE(is_peeled(f16, "(3929,509):(509,1)", kTwo));
}

TEST(Plan, InputsOfPeeledMapsMayBeginAnywhere) {
  Fused op = test::make_op(
      bf16,
      {{"x", "(601,4097):(8194,1)"}, {"z", "(601,4097):(4161,1)"}, {"y", "(601,4097):(4097,1)"}},
      "y = x * z");
  op.tensors[0].align = 2;
  const auto is_peeled = [&] { return plan_of(op).peeled; };
  EXPECT_TRUE(is_peeled());
  op.tensors[2].align = 2;
  EXPECT_FALSE(is_peeled()) << "an output's chunks are numbered from where it begins";
  op.tensors[2].align = 16;
  op.formula = "y = x * z * rsqrt(mean(x * x))";
  op.axis = {1};
  EXPECT_FALSE(is_peeled()) << "so are those of weights";
}

TEST(Plan, HeavyAndTinyMapsHaveShortVectors) {
  const auto vector_of = [](DType dtype, const char* layout, const char* formula) {
    return plan_of(test::make_op(dtype, {{"x", layout}, {"y", layout}}, formula)).vector;
  };
  constexpr const char* kHeavy = "y = sin(log(1 + exp(x ** 3))) / (abs(x) + 1)";
  EXPECT_EQ(vector_of(f32, "1376000:1", kHeavy), 2);
  EXPECT_EQ(vector_of(f32, "524288:1", kHeavy), 2) << "8 bytes at least";
  EXPECT_EQ(vector_of(f32, "1376000:1", "y = x * x"), 4);
  EXPECT_EQ(vector_of(bf16, "2667:1", "y = x * x"), 1) << "no end of a row by elements";
  EXPECT_EQ(vector_of(bf16, "2664:1", "y = x * x"), 8);
  EXPECT_EQ(vector_of(f16, "252:1", "y = x * x"), 4) << "1001/182 of the sweep: 1.41 us, then 1.13";
  EXPECT_EQ(vector_of(f16, "37:1", "y = x * x"), 1);
  EXPECT_EQ(vector_of(f16, "7:1", "y = x * x"), 8) << "a single vector";
  EXPECT_EQ(vector_of(bf16, "77421:1", "y = x * x"), 1) << "1501/227: 2.02 us by 8, then 1.6";
  EXPECT_EQ(vector_of(bf16, "77424:1", "y = x * x"), 8);
  EXPECT_EQ(vector_of(bf16, "262149:1", "y = x * x"), 8) << "more elements than threads at once";
}

TEST(Plan, ShortRowsWhosePlacesCountAreNotPeeled) {
  const auto is_peeled = [](const std::string& masked) {
    Fused op = test::make_op(bf16, {{"x", "(170163,417):(417,1)"}, {"y", "(170163,417):(417,1)"}},
                             "m = " + masked + "; e = exp(m - max(m)); y = e / sum(e)");
    op.axis = {1};
    return plan_of(op).peeled;
  };
  EXPECT_TRUE(is_peeled("x"));
  EXPECT_FALSE(is_peeled("where(iota(0) >= iota(1), x, -30)"));
}

TEST(Plan, ChoosesIndexWidth) {
  struct Row {
    const char *a, *y;
    IndexWidth width;
  };
  constexpr Row kRows[] = {
      {"(1024):(1)", "(1024):(1)", IndexWidth::narrow},
      {"(17179869176):(1)", "(17179869176):(1)", IndexWidth::narrow},  // 2^31-1 vectors of 8
      {"(17179869177):(1)", "(17179869177):(1)", IndexWidth::wide},
      {"(M):(1)", "(M):(1)", IndexWidth::wide},
      {"(M,N):(2,M)", "(M,N):(N,1)", IndexWidth::both},
      {"(M,N):(1,M)", "(M,N):(N,1)", IndexWidth::narrow},  // tiles
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.y);
    EXPECT_EQ(index_of(plan_of(test::make_op(f16, {{"a", row.a}, {"y", row.y}}, "y = a"))),
              row.width);
  }
}

TEST(Plan, ParametersAreLaidOutAsInC) {
  Fused op = test::make_op(f16, {{"x", "(M,N):(N,1)"}, {"b", "(N):(1)"}, {"y", "(M,N):(N,1)"}},
                           "y = x * s + b + cast(n, f16) + cast(d, f16)");
  op.scalars = {
      {.name = "s", .dtype = f16}, {.name = "n", .dtype = i8}, {.name = "d", .dtype = f64}};
  const Plan plan = plan_of(op);
  std::vector<std::string> got;
  for (const Param& p : plan.params)
    got.push_back(p.name + "@" + std::to_string(p.offset) + "+" + std::to_string(p.size));
  const std::vector<std::string> want = {"t0@0+8",  "t1@8+8",     "t2@16+8", "s0@24+4", "s1@28+1",
                                         "s2@32+8", "total@40+8", "d0@48+8", "q0@56+16"};
  EXPECT_EQ(got, want);
  EXPECT_EQ(plan.params_bytes, 72);
}

/// Element index of every operand at linear position `i` of the plan's space.
std::int64_t index_at(const Plan& plan, const Operand& operand, std::int64_t i) {
  std::int64_t index = 0;
  for (std::size_t m = 0; m < plan.extents.size(); ++m) {
    std::int64_t c = i % plan.extents[m].value();
    i /= plan.extents[m].value();
    for (const Mode& leaf : operand.modes[m]) {
      const bool last = &leaf == &operand.modes[m].back();
      index += (last ? c : c % leaf.extent.value()) * leaf.stride.value();
      c /= leaf.extent.value();
    }
  }
  return index;
}

/// Index of a tensor at a row-major position of the broadcast shape, by the layout's definition.
std::int64_t layout_at(const Layout& layout, const std::vector<std::int64_t>& shape,
                       std::int64_t position) {
  std::int64_t index = 0;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const std::size_t i = shape.size() - 1 - k;
    std::int64_t c = position % shape[i];
    position /= shape[i];
    const std::size_t skipped = shape.size() - rank(layout);
    if (i < skipped) continue;
    const Layout own = mode(layout, i - skipped);
    if (size(own).is(1)) continue;
    for (const Mode& leaf : own.leaves()) {
      index += c % leaf.extent.value() * leaf.stride.value();
      c /= leaf.extent.value();
    }
  }
  return index;
}

TEST(Plan, VisitsTheSameElementsAsTheLayouts) {
  const std::vector<std::vector<std::pair<std::string, std::string>>> cases = {
      {{"a", "(4,6):(1,4)"}, {"b", "(6):(1)"}, {"y", "(4,6):(6,1)"}},
      {{"a", "((4,6),3):((6,1),24)"}, {"b", "((6,4),3):((1,6),24)"}, {"y", "(24,3):(3,1)"}},
      {{"a", "((2,3),(2,2)):((8,16),(1,4))"}, {"b", "(6,1):(5,0)"}, {"y", "(6,(2,2)):(1,(6,12))"}},
      {{"a", "(2,3,4,5):(60,20,5,1)"}, {"b", "(3,1,5):(5,0,1)"}, {"y", "(2,3,4,5):(1,2,30,6)"}},
      {{"a", "(1,5):(9,2)"}, {"b", "(7,1):(1,0)"}, {"y", "(7,5):(5,1)"}},
  };
  for (const auto& tensors : cases) {
    SCOPED_TRACE(tensors[0].second + " and " + tensors[1].second);
    const Fused op = test::make_op(f32, tensors, "y = a + b");
    const formula::Analysis analysis = formula::analyze(op);
    const Plan plan = make_plan(op, analysis, kHopper);
    std::vector<std::int64_t> shape;
    std::int64_t count = 1;
    for (const Dim& extent : analysis.shape) count *= shape.emplace_back(extent.value());
    using Indices = std::vector<std::int64_t>;
    std::map<Indices, int> visits;  // (index of a, of b, of y) -> times planned minus times wanted
    for (std::int64_t i = 0; i < count; ++i) {
      Indices planned, wanted;
      for (std::size_t t = 0; t < tensors.size(); ++t) {
        planned.push_back(index_at(plan, plan.operands[t], i));
        wanted.push_back(layout_at(op.tensors[t].layout, shape, i));
      }
      ++visits[planned];
      --visits[wanted];
    }
    for (const auto& [indices, times] : visits)
      ASSERT_EQ(times, 0) << indices[0] << "," << indices[1] << "," << indices[2];
  }
}

TEST(Plan, HeavyFormulasTakeFewElementsAThread) {
  std::string formula = "y = a";
  for (int i = 0; i < 10; ++i) formula += " + pow(a, a + " + std::to_string(i) + ".5)";
  const std::vector<std::pair<std::string, std::string>> tensors = {{"a", "(1048576):(1)"},
                                                                    {"y", "(1048576):(1)"}};
  const Plan ten = plan_of(test::make_op(f16, tensors, formula));
  EXPECT_EQ(ten.vector, 2);
  EXPECT_EQ(ten.unroll, 1);
  for (int i = 10; i < 50; ++i) formula += " + pow(a, a + " + std::to_string(i) + ".5)";
  const Plan fifty = plan_of(test::make_op(f16, tensors, formula));
  EXPECT_EQ(fifty.vector, 1);
}

TEST(Plan, ThreadsOfMapsTakeVectorsUntilBlocksMoveEnough) {
  const struct {
    const char* name;
    DType in, out;
    const char* layout;
    const char* formula;
    int vector, unroll;
  } cases[] = {
      {"8 KB a block", f32, f32, "(33554432):(1)", "y = gelu(a)", 4, 1},
      {"6 KB", f32, bf16, "(33554432):(1)", "y = a", 4, 2},
      {"few: as many threads as there is room for", f32, bf16, "(1048576):(1)", "y = a", 4, 1},
      {"few, of a heavy formula", f32, f32, "(262144):(1)", "y = gelu(a) / (a * a + 2)", 2, 1},
      {"few, of a light formula", f32, f32, "(262144):(1)", "y = relu(a)", 4, 1},
      {"heavy, unless there are many threads", f16, f32, "(2000000):(1)", "y = gelu(a)", 4, 1},
      {"many threads", f16, f32, "(20000000):(1)", "y = gelu(a)", 4, 2},
      {"many, of heavy elements", f32, bf16, "(20000000):(1)", "y = sin(a) + gelu(a)", 4, 1},
      {"that are narrow", f16, f32, "(20000000):(1)", "y = sin(a) + gelu(a)", 4, 2},
      {"light, and all blocks at once", f16, f32, "(4194304):(1)", "y = a", 4, 4},
      {"light, but rows end within vectors", f16, f32, "(4194303):(1)", "y = a", 4, 2},
      {"light, but more blocks", f16, f32, "(33554432):(1)", "y = a", 4, 2},
      {"light, but no registers", f32, f32, "(8388608):(1)", "y = a", 4, 1},
      {"symbolic", f32, f32, "(N):(1)", "y = a", 4, 1},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Fused op = test::make_op(c.in, {{"a", c.layout}, {"y", c.layout}}, c.formula);
    op.tensors[1].dtype = c.out;
    const Plan plan = plan_of(op);
    EXPECT_EQ(plan.threads, 256);
    EXPECT_EQ(plan.vector, c.vector);
    EXPECT_EQ(plan.unroll, c.unroll);
  }
}

TEST(Plan, HeavyMapsTakeSeveralVectorsOnlyIfTheyAreMany) {
  const auto unroll_of = [](const std::string& rows, const std::string& formula) {
    const std::string x = "(" + rows + ",3,77,17):(4389,1463,19,1)",  // rows with gaps: not flat
        w = "(" + rows + ",1,77,1):(77,0,1,0)";
    Fused op = test::make_op(f32, {{"x", x}, {"w", w}, {"y", x}}, formula);
    op.tuning.threads = 256;  // no boxes
    return plan_of(op).unroll;
  };
  const std::string heavy = "y = log(1 + exp(rsqrt(x * x + 0.5) / (abs(w) + 1)))";
  EXPECT_EQ(unroll_of("238", heavy), 1);
  EXPECT_EQ(unroll_of("2380", heavy), 4);
  EXPECT_EQ(unroll_of("238", "y = x + w"), 4);
}

TEST(Plan, ThreadsOfMapsTakeOneVectorIfRepeatedInputsOfPeeledOnesAreNotAligned) {
  Fused op = test::make_op(
      bf16,
      {{"x", "(32768,435):(435,1)"}, {"w", "(32768,435):(0,1)"}, {"y", "(32768,435):(435,1)"}},
      "y = x * w");
  op.tensors[1].dtype = f32;
  op.tensors[2].dtype = i8;
  const Plan plan = plan_of(op);
  EXPECT_TRUE(plan.peeled && plan.operands[1].reach == Reach::strided);
  EXPECT_EQ(plan.unroll, 1);
  op.tensors[1].layout = "(32768,435):(1,0)";
  EXPECT_TRUE(plan_of(op).peeled);
  EXPECT_EQ(plan_of(op).unroll, 2) << "one element for each row";
}

TEST(Plan, HonoursTuning) {
  Fused op = test::make_op(f16, {{"a", "(1024):(1)"}, {"y", "(1024):(1)"}}, "y = a");
  op.tuning = {.threads = 128, .vector = 4, .unroll = 3};
  const Plan plan = plan_of(op);
  EXPECT_EQ(plan.threads, 128);
  EXPECT_EQ(plan.vector, 4);
  EXPECT_EQ(plan.unroll, 3);
  op.tensors[1].align = 2;
  try {
    (void)plan_of(op);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "/tuning/vector");
  }
}

TEST(Plan, IsDeterministicAndPrints) {
  const Fused op = test::make_op(f16, {{"a", "(M,N):(1,M)"}, {"y", "(M,N):(N,1)"}}, "y = a * 2");
  EXPECT_EQ(to_json(plan_of(op)), to_json(plan_of(op)));
  EXPECT_EQ(plan_of(op), plan_of(op));
}

}  // namespace
}  // namespace tilejit::plan
