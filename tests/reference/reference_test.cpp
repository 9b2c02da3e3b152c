#include "tilejit/reference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "tilejit/error.hpp"

namespace tilejit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<float> iota(std::size_t count, float first = 0) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

TEST(Reference, AddsARowToAMatrix) {
  const Fused op{
      .tensors = {{"x", f32, "(2,3):(3,1)"}, {"bias", f32, "(3):(1)"}, {"y", f32, "(2,3):(1,2)"}},
      .formula = "y = x + bias"};
  std::vector<float> x = iota(6), bias = {10, 20, 30}, y(6);
  evaluate(op, {.tensors = {x.data(), bias.data(), y.data()}});
  EXPECT_THAT(y, ElementsAre(10, 13, 21, 24, 32, 35));
}

TEST(Reference, TakesNestedModesAsOneAxis) {
  // (4,2):(2,1) row by row, read through a first mode of (2,2):(4,2), which swaps rows 1 and 2.
  const Fused op{.tensors = {{"x", f32, "((2,2),2):((4,2),1)"}, {"y", f32, "(4,2):(2,1)"}},
                 .formula = "y = x"};
  std::vector<float> x = iota(8), y(8);
  evaluate(op, {.tensors = {x.data(), y.data()}});
  EXPECT_THAT(y, ElementsAre(0, 1, 4, 5, 2, 3, 6, 7));
}

TEST(Reference, FillsInSymbols) {
  const Fused op{.tensors = {{"x", f32, "(M,N):(N,1)"}, {"y", f32, "(M,N):(1,M)"}},
                 .scalars = {{"s"}},
                 .formula = "y = x * s"};
  std::vector<float> x = iota(6), y(6);
  evaluate(op, {.tensors = {x.data(), y.data()}, .scalars = {2}, .symbols = {{"M", 2}, {"N", 3}}});
  EXPECT_THAT(y, ElementsAre(0, 6, 2, 8, 4, 10));
}

TEST(Reference, WorksInPlaceAndOnNoElements) {
  const Fused op{.tensors = {{.name = "x", .layout = "M:1", .access = Access::inout}},
                 .formula = "x = relu(x)"};
  std::vector<float> x = {-1, 2, -3};
  evaluate(op, {.tensors = {x.data()}, .symbols = {{"M", 3}}});
  EXPECT_THAT(x, ElementsAre(0, 2, 0));
  evaluate(op, {.tensors = {nullptr}, .symbols = {{"M", 0}}});
}

TEST(Reference, TakesAnEmptyModeOfLargeLeaves) {
  const Fused op{.tensors = {{"y", f32, "((M,N,A))"}}, .formula = "y = 1.0"};
  const std::int64_t large = std::int64_t{1} << 40;
  evaluate(op, {.tensors = {nullptr}, .symbols = {{"A", 0}, {"M", large}, {"N", large}}});
}

TEST(Reference, GivesAnOutputThatIsReadAgainItsStoredValue) {
  const Fused op{.tensors = {{"x", f32, "1:1"}, {"h", f16, "1:1"}, {"y", f32, "1:1"}},
                 .formula = "h = f16(x); y = f32(h) - x"};
  std::vector<float> x = {1 + 0x1p-12f}, y(1);
  std::uint16_t h = 0;
  evaluate(op, {.tensors = {x.data(), &h, y.data()}});
  EXPECT_EQ(y[0], -0x1p-12f);
}

const Fused kScale{.symbols = {{.name = "M", .divisible_by = 4}},
                   .tensors = {{"x", f32, "M:1"}, {"y", f32, "M:1"}},
                   .scalars = {{"s"}},
                   .formula = "y = x * s"};

// They used to be doubles.
TEST(Reference, TakesIntegerScalarsExactly) {
  const struct {
    DType dtype;
    Number scalar;
    std::int64_t bits;
  } kRows[] = {
      {i64, 9007199254740993, 9007199254740993},
      {i64, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::min()},
      {u64, std::numeric_limits<std::uint64_t>::max(), -1}};
  for (const auto& row : kRows) {
    const Fused op{
        .tensors = {{"y", row.dtype, "1:1"}}, .scalars = {{"k", row.dtype}}, .formula = "y = k"};
    std::int64_t y = 0;
    evaluate(op, {.tensors = {&y}, .scalars = {row.scalar}});
    EXPECT_EQ(y, row.bits);
  }
}

TEST(Reference, VerifiesResultsAgainstUntouchedInputs) {
  std::vector<float> x = iota(8), y = {0, 2, 4, 6, 8, 10, 12, 14};
  const HostArguments inputs{.tensors = {x.data(), nullptr}, .scalars = {2}, .symbols = {{"M", 8}}};
  const std::vector<const void*> actual = {nullptr, y.data()};
  EXPECT_TRUE(verify(kScale, inputs, actual).passed);
  y[3] = 6.5;
  const Verification result = verify(kScale, inputs, actual);
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.first_mismatch, "y(3): got 6.5, want 6");
}

struct RejectCase {
  const char* name;
  std::vector<bool> tensors;  // given, or null
  std::vector<Number> scalars;
  SymbolValues symbols;
  const char* message;
};

TEST(Reference, RejectsMissingOrWrongArguments) {
  const RejectCase cases[] = {
      {"a tensor too few", {true}, {2}, {{"M", 4}}, "has 2 tensors, but 1 were given"},
      {"no scalar", {true, true}, {}, {{"M", 4}}, "has 1 scalars, but 0 were given"},
      {"a scalar beyond its dtype", {true, true}, {1e300}, {{"M", 4}}, "cannot hold 1e+300"},
      {"null input", {false, true}, {2}, {{"M", 4}}, "tensor 'x' is null"},
      {"null output", {true, false}, {2}, {{"M", 4}}, "tensor 'y' is null"},
      {"no symbol", {true, true}, {2}, {}, "symbol 'M' has no value"},
      {"negative symbol", {true, true}, {2}, {{"M", -4}}, "M=-4 is negative"},
      {"broken promise", {true, true}, {2}, {{"M", 6}}, "M=6 is not a multiple of 4"},
  };
  std::vector<float> memory(8);
  for (const RejectCase& c : cases) {
    SCOPED_TRACE(c.name);
    HostArguments args{{}, c.scalars, c.symbols};
    for (const bool given : c.tensors) args.tensors.push_back(given ? memory.data() : nullptr);
    try {
      evaluate(kScale, args);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_THAT(error.what(), HasSubstr(c.message));
    }
  }
}

TEST(Reference, RejectsMissingResults) {
  std::vector<float> x = iota(4);
  const HostArguments inputs{.tensors = {x.data(), nullptr}, .scalars = {2}, .symbols = {{"M", 4}}};
  for (const std::vector<const void*>& actual :
       {std::vector<const void*>{x.data()}, std::vector<const void*>{x.data(), nullptr}}) {
    try {
      (void)verify(kScale, inputs, actual);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    }
  }
}

TEST(Reference, RejectsWhatValidateRejects) {
  const Fused op{.tensors = {{"x", f32, "4:1"}, {"y", f32, "4:1"}}, .formula = "y = x +"};
  try {
    evaluate(op, {.tensors = {nullptr, nullptr}});
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_formula);
  }
}

TEST(Reference, RejectsMoreElementsThanCanBeCounted) {
  const Fused op{.tensors = {{.name = "x", .layout = "(M,M,M):(0,0,0)", .access = Access::in},
                             {"y", f32, "(M,M,M):(M*M,M,1)"}},
                 .formula = "y = x"};
  float memory = 0;
  try {
    evaluate(op, {.tensors = {&memory, &memory}, .symbols = {{"M", std::int64_t{1} << 40}}});
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_THAT(error.what(), HasSubstr("more than 2^63-1 elements"));
  }
}

}  // namespace
}  // namespace tilejit
