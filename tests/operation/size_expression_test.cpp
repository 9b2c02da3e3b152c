#include "operation/size_expression.hpp"

#include <gtest/gtest.h>

#include "fake/expect_error.hpp"

namespace tilejit::operation {
namespace {

struct Value {
  const char* text;
  std::int64_t want;  // with M = 1000, N = 7
};
constexpr Value kValues[] = {
    {"42", 42},
    {"M", 1000},
    {"2*M + N", 2007},
    {"2 * (M + N)", 2014},
    {"M - N - 3", 990},
    {"M // N", 142},
    {"M % N", 6},
    {"(0-M) // N", -143},
    {"(0-M) % N", 1},
    {"ceil_div(M, 128)", 8},
    {"ceil_div(M, N)*N", 1001},
    {"min(M, 528)", 528},
    {"max(M, 528) + max(1, N)", 1007},
    {"min(ceil_div(M, 16), max(N, 2)) * 4", 28},
    {"9223372036854775807", INT64_MAX},
};

std::int64_t evaluate(const SizeExpression& expression) {
  std::vector<std::int64_t> values;
  for (const std::string& name : expression.names()) values.push_back(name == "M" ? 1000 : 7);
  return expression.evaluate(values);
}

TEST(SizeExpression, HasTheValueOfItsText) {
  for (const Value& c : kValues) {
    SCOPED_TRACE(c.text);
    const SizeExpression expression = SizeExpression::parse(c.text, "/at");
    EXPECT_EQ(evaluate(expression), c.want);
    EXPECT_EQ(expression.text(), c.text);
    const SizeExpression known = expression.with({{"M", 1000}, {"N", 7}});
    EXPECT_TRUE(known.is_known());
    EXPECT_EQ(known.evaluate(), c.want);
    EXPECT_EQ(evaluate(expression.with({{"N", 7}})), c.want);
  }
}

struct Refusal {
  const char* text;
  const char* why;  // with the caret's line
};
constexpr Refusal kRefusals[] = {
    {"", "a number, a name or '(' is expected here\n    \n    ^"},
    {"M +", "is expected here\n    M +\n       ^"},
    {"M / 2", "sizes are divided by '//'\n    M / 2\n      ^"},
    {"M 2", "an operator or the end is expected here\n    M 2\n      ^"},
    {"ceil_div(M)", "',' is expected here\n    ceil_div(M)\n              ^"},
    {"log2(M)", "the functions are ceil_div(a,b), min(a,b) and max(a,b)\n    log2(M)\n    ^"},
    {"(M", "')' is expected here\n    (M\n      ^"},
    {"9223372036854775808", "the number exceeds 64 bits"},
    {"M\n", "an operator or the end is expected here"},
    {"#include", "is expected here\n    #include\n    ^"},
};

TEST(SizeExpression, RefusesWithACaret) {
  for (const Refusal& c : kRefusals) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(expect_error(ErrorCode::invalid_spec, c.why,
                           [&] { (void)SizeExpression::parse(c.text, "/at"); }),
              "/at");
  }
  expect_error(ErrorCode::invalid_spec, "at most 32 levels",
               [] { (void)SizeExpression::parse(std::string(500, '('), ""); });
  std::string sum = "1";
  for (int i = 0; i < 300; ++i) sum += "+1";
  expect_error(ErrorCode::invalid_spec, "too long", [&] { (void)SizeExpression::parse(sum, ""); });
}

TEST(SizeExpression, RefusesWhatHasNoValue) {
  const auto value = [](const char* text) { (void)evaluate(SizeExpression::parse(text, "")); };
  expect_error(ErrorCode::invalid_argument, "divides by 0", [&] { value("M // (N - 7)"); });
  expect_error(ErrorCode::invalid_argument, "divides by 0", [&] { value("ceil_div(M, N - 7)"); });
  expect_error(ErrorCode::unsupported, "exceeds 64 bits",
               [&] { value("9223372036854775807 + N"); });
  expect_error(ErrorCode::unsupported, "exceeds 64 bits",
               [&] { value("(0-9223372036854775807-1) // (0-1)"); });
}

}  // namespace
}  // namespace tilejit::operation
