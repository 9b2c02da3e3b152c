// Negations of integers below minima and maxima, in machine code.
#include <gtest/gtest.h>

#include <string>

#include "templates/machine_code.hpp"

namespace tilejit {
namespace {

struct Negation {
  const char* target;
  DType dtype;   // of the operands
  DType result;  // they are cast to it before they are compared
  const char* of_b;
};

class Negations : public testing::TestWithParam<Negation> {};

/// ptxas of CUDA 12.6 to 13.3 dropped the negation: the code was that of max(max(a, b), c).
TEST_P(Negations, AreInTheCodeOfMaximaOfThree) {
  if (!test::has_disassembler()) GTEST_SKIP() << test::kNoDisassembler;
  const auto [target, dtype, result, of_b] = GetParam();
  const auto code_with = [&](const std::string& b) {
    const Layout layout = parse_layout("(4096,64):(64,1)");
    const std::string cast(to_string(result));
    return test::machine_code(
        {.name = "maximum",
         .tensors = {{"a", dtype, layout},
                     {"b", dtype, layout},
                     {"c", dtype, layout},
                     {"y", result, layout}},
         .formula = "y = max(max(" + cast + "(a), " + cast + "(" + b + ")), " + cast + "(c))"},
        target);
  };
  EXPECT_NE(code_with(of_b), code_with("b"));
}

constexpr Negation kNegations[] = {
    {"sm_90a", i32, i32, "-b"}, {"sm_90a", i64, i32, "b // -1"}, {"sm_90a", i16, i16, "-b"},
    {"sm_90a", i64, i32, "-b"}, {"sm_100a", i32, i32, "-b"},
};
INSTANTIATE_TEST_SUITE_P(OfIntegers, Negations, testing::ValuesIn(kNegations));

}  // namespace
}  // namespace tilejit
