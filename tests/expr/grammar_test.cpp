#include <string>

#include "expr_support.hpp"

namespace tilejit::expr {
namespace {

struct Pair {
  const char* formula;
  const char* same;  // means the same with every parenthesis written
};

TEST(Grammar, PrecedenceIsPythons) {
  constexpr Pair kPairs[] = {
      {"y = x_f32 + x_f64 * 2", "y = x_f32 + (x_f64 * 2)"},
      {"y = x_f32 - x_f64 - 1", "y = (x_f32 - x_f64) - 1"},
      {"y = x_f32 / x_f64 * 3 % 2 // 5", "y = (((x_f32 / x_f64) * 3) % 2) // 5"},
      {"y = -x_f32 ** 2", "y = -(x_f32 ** 2)"},
      {"y = x_f32 ** -x_f64", "y = x_f32 ** (-x_f64)"},
      {"y = x_f32 ** x_f64 ** 0.3", "y = x_f32 ** (x_f64 ** 0.3)"},
      {"y = ~x_i32 + 1", "y = (~x_i32) + 1"},
      {"y = x_i32 | x_i64 ^ 3 & 5 << 1 + 1", "y = x_i32 | (x_i64 ^ (3 & (5 << (1 + 1))))"},
      {"y = x_i32 & 1 == 0", "y = (x_i32 & 1) == 0"},
      {"y = not x_i32 < 3 and x_bool", "y = (not (x_i32 < 3)) and x_bool"},
      {"y = x_bool or x_i32 and x_f32", "y = x_bool or (x_i32 and x_f32)"},
      {"y = not not x_bool", "y = not (not x_bool)"},
      {"y = - - +x_f32", "y = -(-(+x_f32))"},
  };
  for (const Pair& pair : kPairs) {
    SCOPED_TRACE(pair.formula);
    EXPECT_EQ(compiled(pair.formula), compiled(pair.same));
  }
}

TEST(Grammar, BlanksCommentsAndSeparatorsMeanNothing) {
  constexpr Pair kPairs[] = {
      {"t = x_f32; y = t", "t = x_f32\ny = t"},
      {"\n\n# comment = (\ny=x_f32+1 # more\n;;", "y = x_f32 + 1"},
      {"y = (x_f32\n  + # half\n  1\n)\n", "y = x_f32 + 1"},
      {"y = max(\n x_f32,\r\n 1)", "y = max(x_f32, 1)"},
      {"y\t=\tx_f32\r\n", "y = x_f32"},
  };
  for (const Pair& pair : kPairs) {
    SCOPED_TRACE(pair.formula);
    EXPECT_EQ(compiled(pair.formula), compiled(pair.same));
  }
}

TEST(Grammar, LiteralsHaveTheirValues) {
  constexpr Pair kPairs[] = {
      {"y = 255 + x_i32", "y = 0xFf + x_i32"},
      {"y = x_f32 * .5", "y = x_f32 * 5e-1"},
      {"y = x_f32 * 2.", "y = x_f32 * 2.0"},
      {"y = x_f32 * 1E3", "y = x_f32 * 1000.0"},
      {"y = x_f32 * inf", "y = x_f32 * (1e308 * 10)"},
      {"y = x_f32 * pi", "y = x_f32 * 3.141592653589793"},
      {"y = x_bool & true", "y = x_bool & (1 == 1)"},
      {"y = f16(x_f32)", "y = cast(x_f32, f16)"},
      {"y = bool(x_f32)", "y = cast(x_f32, bool)"},
      {"y = x_u64 + 18446744073709551615", "y = x_u64 + 0xffffffffffffffff"},
  };
  for (const Pair& pair : kPairs) {
    SCOPED_TRACE(pair.formula);
    EXPECT_EQ(compiled(pair.formula), compiled(pair.same));
  }
}

TEST(Grammar, RefusesWithTheReason) {
  struct Refused {
    const char* formula;
    const char* message;  // a part of it
  };
  constexpr Refused kRefused[] = {
      {"y = x_f32 + )", "expected an expression, found ')'"},
      {"y = ", "expected an expression, found the end of the text"},
      {"y = \nx_f32", "expected an expression, found the end of the line"},
      {"y = (x_f32 + 1", "expected ')' to close the '(' of line 1, found the end of the text"},
      {"y = (x_f32\nz = 2", "formula line 2: expected ')' to close the '(' of line 1, found 'z'"},
      {"y = x_f32)", "expected the end of the statement, found ')'"},
      {"y = x_f32 x_f32", "expected the end of the statement, found 'x_f32'"},
      {"y = x_f32 if x_f32 else 0", "write where(condition, a, b)"},
      {"y = where(x_f32 = 1, 2, 3)",
       "'where' has no keyword 'x_f32'; it takes its arguments in order (write '==' to compare)"},
      {"y = (x_f32 = 1)", "found '='; write '==' to compare"},
      {"y == x_f32", "expected '=' after 'y', found '=='"},
      {"y += x_f32", "expected '=' after 'y', found '+'"},
      {"x_f32 + 1", "expected '=' after 'x_f32', found '+'"},
      {"3 = x_f32", "expected a statement 'name = expression', found '3'"},
      {"not = x_f32", "expected a statement 'name = expression', found 'not'"},
      {"y = x_f32 < 1 < 2", "comparisons do not chain: write 'a < b and b < c'"},
      {"y = x_f32 == not x_f32", "found 'not'; put it into parentheses"},
      {"y = x_f32 && 1", "expected an expression, found '&'"},
      {"y = !x_f32", "unexpected character '!'; write 'not' or '!='"},
      {"y = x_f32 ? 1 : 2", "unexpected character '?'; write where(condition, a, b)"},
      {"y = x_f32 + \xC3\xA9", "unexpected character '\xC3\xA9'"},
      {"y = x_f32 + \xFF", "unexpected character '?'"},
      {"y = x_f32 + \x01", "unexpected character '?'"},
      {"y = x_f32[0]", "unexpected character '['"},
      {"y = 1_000", "a number ends here"},
      {"y = 1.5f", "a number ends here"},
      {"y = 1.2.3", "a number ends here"},
      {"y = 007", "an integer does not start with 0"},
      {"y = 0x", "expected hexadecimal digits after '0x'"},
      {"y = 1e", "expected digits of the exponent"},
      {"y = 1e999", "out of the range of f64"},
      {"y = 18446744073709551616", "an integer literal has at most 64 bits"},
      {"y = cast(x_f32)", "expected ',' and a dtype"},
      {"y = cast(x_f32, half)", "expected a dtype such as f16 or i32, found 'half'"},
      {"y = f16", "expected '(': 'f16' is a function of the language"},
      {"y = exp + 1", "expected '(': 'exp' is a function of the language"},
      {"y = exp()", "'exp' takes 1 argument, not 0"},
      {"y = exp(x_f32, x_f32)", "'exp' takes 1 argument, not 2"},
      {"y = where(x_f32, 1)", "'where' takes 3 arguments, not 2"},
      {"y = max()", "'max' takes 1 or more arguments, not 0"},
      {"y = exp(x_f32,)", "expected an expression, found ')'"},
      {"y = exq(x_f32)", "unknown function 'exq'; did you mean 'exp'?"},
      {"y = alpa * x_f32 + alpha", "unknown name 'alpa'; did you mean 'alpha'?"},
      {"y = True", "unknown name 'True'; did you mean 'true'?"},
      // "and" is one letter away from rand, but cannot be called.
      {"y = rand(x_f32)", "unknown function 'rand'\n"},
      {"y = float16(x_f32)", "unknown function 'float16'; did you mean 'f16'?"},
      {"y = int(x_f32)", "unknown function 'int'; did you mean 'i32'?"},
      {"y = cast(x_f32, float32)", "found 'float32'; did you mean 'f32'?"},
      {"y = qqqqqqqqqq", "unknown name 'qqqqqqqqqq'\n"},
  };
  for (const Refused& refused : kRefused) {
    SCOPED_TRACE(refused.formula);
    const std::string what = refusal(refused.formula, scope_for(refused.formula));
    EXPECT_NE(what.find(refused.message), std::string::npos) << what;
  }
}

TEST(Grammar, ErrorsShowTheLineWithACaret) {
  const std::string what = refusal("t = 1\n  y = x_f32 + )", scope_for("x_f32"));
  EXPECT_EQ(what.rfind("formula line 2: expected an expression, found ')'\n"
                       "      y = x_f32 + )\n"
                       "                  ^",
                       0),
            0u)
      << what;
}

TEST(Grammar, CaretCountsCodePointsAndShortensLongLines) {
  const std::string accents(30, 'a');
  const std::string formula = "y = " + std::string(500, '(') + "\xC3\xA9" + std::string(500, ')');
  const std::string what = refusal(formula, scope_for(""));
  const std::size_t first = what.find('\n') + 1;
  const std::size_t second = what.find('\n', first) + 1;
  EXPECT_LE(second - first, 101u) << what;
  const std::size_t caret = what.find('^', second) - second;
  EXPECT_EQ(what.substr(first + caret, 2), "\xC3\xA9") << what;
  EXPECT_NE(what.find("..."), std::string::npos);
}

}  // namespace
}  // namespace tilejit::expr
