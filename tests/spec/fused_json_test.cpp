// JSON text <-> descriptors: what is accepted, what is refused, and with which message.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <limits>
#include <sstream>

#include "spec/spec_text.hpp"
#include "tilejit/error.hpp"
#include "tilejit/operation.hpp"

namespace tilejit {
namespace {

using test::kAdd;
using test::spec_of;

TEST(ParseFused, ReadsEveryField) {
  const Fused op = parse_fused(R"_({
    "$schema": "x", "description": "everything at once", "name": "everything", "op": "fused",
    "symbols": {"M": {"divisible_by": 4, "example": 16}},
    "tensors": {
      "x": {"dtype": "f16", "shape": ["M", {"N": {"divisible_by": 8}}], "access": "in", "align": 8},
      "y": {"dtype": "bf16", "layout": "(M,N):(1,M)"},
      "z": {"dtype": "f32", "shape": ["M", "N"], "stride": ["2*N", 1], "access": "out"}},
    "scalars": {"alpha": "f32", "n": {"dtype": "i32", "example": 3}},
    "functions": {"twice": {"args": ["v"], "expr": "v * 2"}},
    "formula": ["t = twice(cast(y, f32)) * alpha", "z = x + t + n"],
    "axis": [1, 0],
    "tuning": {"threads": 128, "vector": 1, "unroll": 2}})_");
  EXPECT_EQ(op.name, "everything");
  ASSERT_EQ(op.tensors.size(), 3u);
  EXPECT_EQ(to_string(op.tensors[0].layout), "(M,N):(N,1)");
  EXPECT_EQ(op.tensors[0].align, 8);
  EXPECT_EQ(op.tensors[0].access, Access::in);
  EXPECT_EQ(to_string(op.tensors[1].layout), "(M,N):(1,M)");
  EXPECT_EQ(to_string(op.tensors[2].layout), "(M,N):(2*N,1)");
  ASSERT_EQ(op.symbols.size(), 2u);
  EXPECT_EQ(op.symbols[0], (Symbol{.name = "M", .divisible_by = 4, .example = 16}));
  EXPECT_EQ(op.symbols[1], (Symbol{.name = "N", .divisible_by = 8}));
  EXPECT_EQ(op.scalars[1].example, 3);
  EXPECT_EQ(op.formula, "t = twice(cast(y, f32)) * alpha\nz = x + t + n");
  EXPECT_EQ(op.axis, (std::vector<int>{1, 0}));
  EXPECT_EQ(op.tuning, (Tuning{.threads = 128, .vector = 1, .unroll = 2}));
  EXPECT_EQ(parse_fused(to_json(op)), op) << to_json(op);
}

TEST(ParseFused, ReadsThreadValueLayoutsAndKnobsOfRows) {
  const Fused op = parse_fused(R"_({
    "tensors": {"x": {"dtype": "f16", "shape": [64, 512]}, "y": {"dtype": "f16", "shape": [64, 512]}},
    "formula": "y = x", "tv": {"thr": "(4,64):(64,1)", "val": "(16,8):(8,1)"}})_");
  ASSERT_TRUE(op.tuning.tv);
  EXPECT_EQ(to_string(op.tuning.tv->thr), "(4,64):(64,1)");
  EXPECT_EQ(to_string(op.tuning.tv->val), "(16,8):(8,1)");
  EXPECT_EQ(parse_fused(to_json(op)), op) << to_json(op);
  Fused rows = op;
  rows.tuning = {
      .row_threads = 32, .cluster = 2, .splits = 1, .register_vectors = 0, .atomics = true};
  EXPECT_EQ(parse_fused(to_json(rows)), rows) << to_json(rows);
}

// It used to be read as a double.
TEST(ParseFused, KeepsExamplesOfIntegersExact) {
  const struct {
    const char* text;
    Number number;
  } kRows[] = {{"9007199254740993", 9007199254740993},
               {"-9223372036854775808", std::numeric_limits<std::int64_t>::min()},
               {"18446744073709551615", std::numeric_limits<std::uint64_t>::max()},
               {"0.5", 0.5},
               {"3.0", 3.0}};
  for (const auto& row : kRows) {
    SCOPED_TRACE(row.text);
    const std::string scalars =
        R"(, "scalars": {"k": {"dtype": "u64", "example": )" + std::string(row.text) + "}}";
    const Fused op =
        parse_fused(spec_of(R"("y": {"dtype": "u64", "shape": [8]})", "y = k", scalars));
    EXPECT_EQ(op.scalars[0].example, row.number);
    EXPECT_NE(to_json(op).find(row.text), std::string::npos) << to_json(op);
    EXPECT_EQ(parse_fused(to_json(op)), op);
  }
}

TEST(ParseFused, ShapesOrdersAndRankZero) {
  struct Row {
    const char *tensor, *layout;
  };
  constexpr Row kRows[] = {
      {R"("shape": [4, 8])", "(4,8):(8,1)"},
      {R"("shape": [4, 8], "order": "row")", "(4,8):(8,1)"},
      {R"("shape": [4, 8], "order": "column")", "(4,8):(1,4)"},
      {R"("shape": [2, 3, 4], "order": [1, 2, 0])", "(2,3,4):(4,8,1)"},
      {R"("shape": [])", "1:0"},
      {R"("shape": [], "stride": [])", "1:0"},  // was 1:1
      {R"("shape": [8])", "(8):(1)"},
      {R"("shape": [8, [4, 2]], "stride": [1, [8, 32]])", "(8,(4,2)):(1,(8,32))"},
      {R"("shape": ["8*M", 2])", "(8*M,2):(2,1)"},
      {R"_("layout": "(4,8)")_", "(4,8):(8,1)"},
      {R"("shape": [0, 8])", "(0,8):(8,1)"},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.tensor);
    const std::string tensor = std::string(R"({"dtype": "f32", )") + row.tensor + "}";
    const Fused op = parse_fused(spec_of("\"x\": " + tensor + ", \"y\": " + tensor, "y = x"));
    EXPECT_EQ(to_string(op.tensors[0].layout), row.layout);
    EXPECT_EQ(parse_fused(to_json(op)), op);
  }
}

TEST(ParseFused, TakesOutputsWhoseModesInterleaveOrAreEmpty) {
  for (const char* layout :
       {"(2,2):(1,2)", "(4,3):(3,1)", "(2,3):(3,2)", "(2,2,2):(4,1,2)", "(2,3,2):(3,2,12)",
        "(64,32):(33,1)", "(M,(2,3)):(8,(3,2))", "(3,1000000,1000000):(1000000000000,1000000,1)",
        "(2,0,2):(0,1,0)", "(8,0,8)"}) {
    SCOPED_TRACE(layout);
    EXPECT_NO_THROW(validate(Fused{.tensors = {{"y", f32, layout}}, .formula = "y = 1.0"}));
  }
}

TEST(ParseSpecs, ReadsOneOrSeveral) {
  const std::string one = spec_of(kAdd, "c = a");
  EXPECT_EQ(parse_specs(one).size(), 1u);
  std::string other = one;
  other.replace(other.find("\"t\""), 3, "\"u\"");
  EXPECT_EQ(parse_specs("{\"kernels\": [" + one + "," + other + "]}").size(), 2u);
}

TEST(ToJson, RefusesTextThatIsNotUtf8) {
  try {
    (void)to_json(Fused{.name = "n", .formula = "y = \xff"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_spec);
    EXPECT_NE(std::string(error.what()).find("of 'n' is not UTF-8"), std::string::npos)
        << error.what();
  }
}

TEST(Schema, HoldsTheLimitsOfTheReader) {
  for (const char* part : {"\"tensors\"", "\"maxLength\": 64", "\"maxProperties\": 64"}) {
    EXPECT_NE(spec_schema().find(part), std::string_view::npos) << part;
  }
}

}  // namespace
}  // namespace tilejit
