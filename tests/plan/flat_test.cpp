// Maps whose vectors go on from one row to the next.
#include "map/flat.hpp"

#include <gtest/gtest.h>

#include "plan/plans.hpp"
#include "support/specs.hpp"

namespace tilejit::plan {
namespace {

bool is_flat(const Plan& plan) {
  const auto* const map = std::get_if<Map>(&plan.family);
  return map != nullptr && map->flat;
}

TEST(Flat, AreMapsOfShortRowsBesideInputsThatRepeat) {
  struct Row {
    const char* what;
    const char *x, *w, *y;
    bool flat;
    int vector;
    const char* extents;  // innermost first
  };
  constexpr Row kRows[] = {
      {"a column that rows repeat", "(200000,53):(53,1)", "(200000,1):(1,0)", "(200000,53):(53,1)",
       true, 8, "10600000"},
      {"a mode in the middle", "(6910,197,3):(591,3,1)", "(1,197,1):(0,1,0)",
       "(6910,197,3):(591,3,1)", true, 8, "4083810"},
      {"as many modes as align vectors", "(400,512,53):(27136,53,1)", "(1,512,1):(0,1,0)",
       "(400,512,53):(27136,53,1)", true, 8, "27136 400"},
      {"rows of whole vectors", "(200000,48):(48,1)", "(200000,1):(1,0)", "(200000,48):(48,1)",
       false, 8, "48 200000"},
      {"rows long enough to be peeled", "(20000,531):(531,1)", "(20000,1):(1,0)",
       "(20000,531):(531,1)", false, 8, "531 20000"},
      {"rows with gaps", "(200000,53):(53,1)", "(200000,1):(1,0)", "(200000,53):(55,1)", false, 1,
       "53 200000"},
      {"an input as large as the output", "(200000,53):(53,1)", "(200000,53):(55,1)",
       "(200000,53):(53,1)", true, 4, "10600000"},
      {"rows of unknown length", "(M,N):(N,1)", "(M,1):(1,0)", "(M,N):(N,1)", false, 1, "N M"},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.what);
    const Plan plan =
        plan_of(test::make_op(bf16, {{"x", row.x}, {"w", row.w}, {"y", row.y}}, "y = x * w"));
    EXPECT_EQ(is_flat(plan), row.flat);
    EXPECT_EQ(plan.vector, row.vector);
    EXPECT_EQ(extents_of(plan), row.extents);
    EXPECT_EQ(plan.operands[1].modes.front().size() > 1, row.flat);
  }
}

// By elements, each operand takes a request, and each element a division, for what vectors of four
// share (1308/118 of the sweep: 72 us, then 62).
TEST(Flat, ArePlannedForLargeElementsByCycles) {
  struct Row {
    const char* what;
    const char *x, *w;
    bool flat;
  };
  constexpr Row kRows[] = {
      {"a row that all repeat", "(4705792,3):(3,1)", "(1,3):(0,1)", true},
      {"a column", "(109520,5):(5,1)", "(109520,1):(1,0)", true},
      {"a mode in the middle", "(8685,9,11,7):(693,77,7,1)", "(8685,1,11,1):(11,0,1,0)", true},
      {"rows of two vectors of 8 bytes", "(109520,6):(6,1)", "(109520,1):(1,0)", false},
  };
  for (const Row& row : kRows) {
    const Plan plan =
        plan_of(test::make_op(f32, {{"x", row.x}, {"w", row.w}, {"y", row.x}}, "y = x * w"));
    EXPECT_EQ(is_flat(plan), row.flat) << row.what;
    EXPECT_EQ(plan.vector, row.flat ? 4 : 2) << row.what;
  }
}

// What numbers a vector is shared by eight elements, or by two (2702/28 of the sweep: 78.9 us by
// pairs, 63.7 flat).
TEST(Flat, ArePlannedWherePairsTakeMoreInstructions) {
  struct Row {
    const char* what;
    const char *x, *w;
    bool flat;
  };
  constexpr Row kRows[] = {
      {"instructions count", "(2488,8192,2):(16384,2,1)", "(1,8192,1):(0,1,0)", true},
      {"few threads, which end together", "(248,8192,2):(16384,2,1)", "(1,8192,1):(0,1,0)", false},
      {"rows of whole vectors", "(2488,1024,16):(16384,16,1)", "(1,1024,1):(0,1,0)", false},
  };
  for (const Row& row : kRows) {
    const Plan plan = plan_of(test::make_op(
        bf16, {{"x", row.x}, {"w", row.w}, {"v", row.w}, {"y", row.x}}, "y = sin(x / w) - v"));
    EXPECT_EQ(is_flat(plan), row.flat) << row.what;
  }
}

TEST(Flat, LargeInputsWithGapsAreReadByElement) {
  const auto planned = [](DType dtype, const char* gaps, const char* dense) {
    return plan_of(test::make_op(dtype, {{"x", gaps}, {"w", dense}, {"y", dense}}, "y = x * w"));
  };
  const Plan plan = planned(bf16, "(200000,49):(113,1)", "(200000,49):(49,1)");
  EXPECT_TRUE(is_flat(plan));
  EXPECT_EQ(plan.vector, 4) << "wider ones leave less of the L1 cache to each other";
  EXPECT_EQ(plan.operands[0].reach, Reach::strided);
  EXPECT_EQ(plan.operands[1].access_bytes, 8);
  // 2103/189 of the sweep: 2.87 us by elements, 2.32 by pairs, 2.27 by four.
  Fused small = test::make_op(bf16,
                              {{"x", "(425,3,3,77):(702,234,78,1)"},
                               {"w", "(1,3,1,1):(0,1,0,0)"},
                               {"y", "(425,3,3,77):(693,231,77,1)"}},
                              "y = clamp(round(x * w * 31), -128, 127)");
  small.tensors.back().dtype = i8;
  EXPECT_TRUE(is_flat(plan_of(small)));
  EXPECT_EQ(plan_of(small).vector, 2) << "as many threads as are resident";
  EXPECT_FALSE(is_flat(planned(bf16, "(200,49):(113,1)", "(200,49):(49,1)")));
  EXPECT_FALSE(is_flat(planned(f32, "(200000,49):(113,1)", "(200000,49):(49,1)")));
  EXPECT_FALSE(is_flat(planned(f16, "(3,17,13,61,59):(767,2301,59,39117,1)",
                               "(3,17,13,61,59):(795379,46787,3599,59,1)")))
      << "a division for each of five modes";
}

// 2802/178 of the sweep: 32.9 us flat, 30.3 by pairs; 2403/127: 91.5 and 74.6.
TEST(Flat, LargeInputsAreReadByTheirWords) {
  const auto planned = [](const char* x, const char* y) {
    return plan_of(test::make_op(bf16, {{"x", x}, {"y", y}}, "y = clamp(x, -1, 1)"));
  };
  const Plan plan =
      planned("(8200,128,2,10):(1280,10,10496000,1)", "(8200,128,2,10):(2560,20,10,1)");
  EXPECT_FALSE(is_flat(plan));
  EXPECT_EQ(plan.operands[0].access_bytes, 4);
  EXPECT_TRUE(
      is_flat(planned("(200,128,2,10):(1280,10,256000,1)", "(200,128,2,10):(2560,20,10,1)")))
      << "all blocks load at once";
}

TEST(Flat, PinnedVectorsAreThoseOfRows) {
  Fused op = test::make_op(
      bf16, {{"x", "(200000,53):(53,1)"}, {"w", "(200000,1):(1,0)"}, {"y", "(200000,53):(53,1)"}},
      "y = x * w");
  op.tuning.vector = 1;
  EXPECT_FALSE(std::get<Map>(plan_of(op).family).flat);
  op.tuning = {.threads = 128, .unroll = 2};
  const Plan plan = plan_of(op);
  EXPECT_TRUE(std::get<Map>(plan.family).flat);
  EXPECT_EQ(plan.threads, 128);
  EXPECT_EQ(plan.unroll, 2);
}

}  // namespace
}  // namespace tilejit::plan
