#include "figures/widths.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/plans.hpp"
#include "support/specs.hpp"

namespace tilejit::figures {
namespace {

using test::make_op;
using Kind = WidthReason::Kind;

WidthReason reason_of(const Fused& op, std::size_t index) {
  const formula::Analysis analysis = formula::analyze(op);
  return explain_width(plan::make_plan(op, analysis, plan::kHopper), op.tuning, index);
}

struct WidthCase {
  const char *name, *x, *y;
  Kind x_kind;
  const char* x_text;
  Kind y_kind;
  const char* y_text;
};

TEST(Widths, HaveTheirReasons) {
  const WidthCase cases[] = {
      {"contiguous", "(4096):(1)", "(4096):(1)", Kind::widest, "widest", Kind::widest, "widest"},
      {"strided", "(4194304):(3)", "(4194304):(1)", Kind::strided,
       "neighbours lie 3 elements apart", Kind::widest, "widest"},
      {"strided, of few elements", "(4096):(3)", "(4096):(1)", Kind::strided,
       "neighbours lie 3 elements apart", Kind::vector, "would touch more lines of x"},
      {"broadcast", "(64,4096):(1,0)", "(64,4096):(4096,1)", Kind::one_value, "one element",
       Kind::widest, "widest"},
      {"padded input", "(64,96):(100,1)", "(64,96):(96,1)", Kind::widest, "", Kind::widest, ""},
      {"odd input", "(64,96):(98,1)", "(64,96):(96,1)", Kind::stride,
       "its stride of 98 elements is a multiple of 2 only", Kind::widest, "widest"},
      {"odd output of short rows", "(64,48):(48,1)", "(64,48):(49,1)", Kind::vector,
       "stores are not split and y is aligned for no more", Kind::stride,
       "its stride of 49 elements is a multiple of 1 only"},
      {"odd output", "(4096,96):(96,1)", "(4096,96):(97,1)", Kind::widest, "shifted in registers",
       Kind::widest, "vectors begin where memory is aligned"},
  };
  for (const WidthCase& row : cases) {
    SCOPED_TRACE(row.name);
    const Fused op = make_op(f32, {{"x", row.x}, {"y", row.y}}, "y = x");
    EXPECT_EQ(reason_of(op, 0).kind, row.x_kind) << reason_of(op, 0).text;
    EXPECT_THAT(reason_of(op, 0).text, testing::HasSubstr(row.x_text));
    EXPECT_EQ(reason_of(op, 1).kind, row.y_kind) << reason_of(op, 1).text;
    EXPECT_THAT(reason_of(op, 1).text, testing::HasSubstr(row.y_text));
  }
}

TEST(Widths, NameTheAddressTheDTypeAndTheKnob) {
  Fused op = make_op(f32, {{"x", "(4096):(1)"}, {"y", "(4096):(1)"}}, "y = x");
  op.tensors[0].align = 4;
  EXPECT_EQ(reason_of(op, 0).kind, Kind::alignment);
  EXPECT_EQ(reason_of(op, 0).text, "its address is a multiple of 4 bytes only");
  EXPECT_THAT(reason_of(op, 0).remedy, testing::HasSubstr("\"align\": 16 for x"));
  op.tensors[0].align = 16;
  op.tensors[1].dtype = f8e4m3;
  op.formula = "y = cast(x, f8e4m3)";
  EXPECT_EQ(reason_of(op, 1).text, "vectors have 4 elements, which are 16 bytes of x");
  op.tuning.vector = 2;
  EXPECT_EQ(reason_of(op, 0).text, "vectors have 2 elements, as the spec pins");
  EXPECT_EQ(reason_of(op, 0).remedy, "leave \"vector\" to the planner");
}

TEST(Widths, NameThePromiseThatASymbolLacks) {
  Fused op =
      make_op(f16, {{"x", "(M,N):(N,1)"}, {"w", "(N):(1)"}, {"y", "(M,N):(N,1)"}}, "y = x * w");
  op.symbols = {{.name = "N", .divisible_by = 2}};
  const WidthReason reason = reason_of(op, 2);
  EXPECT_EQ(reason.text, "its stride N is known to be a multiple of 2 only");
  EXPECT_THAT(reason.remedy, testing::HasSubstr("\"divisible_by\": 8 for the stride N of y"));
  op.symbols.front().divisible_by = 8;
  EXPECT_EQ(reason_of(op, 2).kind, Kind::widest);
}

// A promise would not widen what is already a whole vector.
TEST(Widths, OfNarrowElementsAreAVectors) {
  Fused op =
      make_op(f16, {{"x", "(M,N):(N,1)"}, {"w", "(N):(1)"}, {"y", "(M,N):(N,1)"}}, "y = x > w");
  op.tensors[2].dtype = b8;
  op.symbols = {{.name = "N", .divisible_by = 8}};
  EXPECT_EQ(reason_of(op, 2).text, "vectors have 8 elements, which are 16 bytes of x");
  EXPECT_EQ(reason_of(op, 2).remedy, "");
}

TEST(Widths, OfRowsAreOneElementARow) {
  const Fused op = make_op(f32, {{"x", "(64,1024):(1024,1)"}, {"y", "(64):(1)"}}, "y = sum(x)");
  EXPECT_EQ(reason_of(op, 1).kind, Kind::one_value);
}

}  // namespace
}  // namespace tilejit::figures
