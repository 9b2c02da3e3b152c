#include "expr/expression.hpp"

#include <gtest/gtest.h>

#include "tilejit/error.hpp"

namespace tilejit::expr {
namespace {

const FunctionTable& functions() {
  static const std::vector<FunctionText> texts = {{"twice", {"a"}, "a + a"},
                                                  {"bad", {"a"}, "a & 1.5"}};
  static const FunctionTable table(texts);
  return table;
}

/// n is the literal 8, t a tensor of f16, block.x a scalar of i64.
ExpressionScope scope() {
  return {.find = [](std::string_view name, std::size_t) -> std::optional<Operand> {
            if (name == "n") return Operand{.literal = WideInt{8}};
            if (name == "t") return Operand{Operand::Kind::tensor, false, f16, 3};
            if (name == "block.x") return Operand{Operand::Kind::scalar, false, i64, 1};
            return std::nullopt;
          },
          .known = {"n", "t", "block.x"},
          .functions = &functions(),
          .rank = 2,
          .dialect = {.dotted_names = true},
          .advice = "no reductions here"};
}

std::string lines_of(std::string_view text, std::optional<DType> stored = {}) {
  ExpressionScope where = scope();
  where.stored = stored;
  const Expression made = compile_expression({text, "program", ""}, where);
  if (made.is_known()) return to_string(made.literal);
  std::string all;
  for (const std::string& line : to_lines(Program{.nodes = made.nodes})) {
    all += (all.empty() ? "" : "; ") + line;
  }
  return all;
}

struct Case {
  const char* text;
  const char* want;
};

TEST(Expression, ResolvesNamesAsTheScopeSays) {
  for (const Case& c : {Case{"n * 2", "16"}, Case{"ceil_div(n, 3)", "3"},
                        Case{"block.x + n",
                             "v0: i64 = scalar s1; v1: i64 = constant 8; "
                             "v2: i64 = add v0 v1"},
                        Case{"twice(t)", "v0: f16 = load t3; v1: f16 = add v0 v0"},
                        Case{"iota(1)", "v0: i64 = index axes 1"}}) {
    EXPECT_EQ(lines_of(c.text), c.want) << c.text;
  }
}

TEST(Expression, ConvertsToTheStoredType) {
  EXPECT_EQ(lines_of("n / 4", f32), "v0: f32 = constant 2");
  EXPECT_EQ(lines_of("t", f32), "v0: f16 = load t3; v1: f32 = cast v0");
}

TEST(Expression, MessagesShowTheLineOfTheWholeText) {
  const std::string whole = "first\nlet y = t + block.y # end";
  const std::string_view part = std::string_view(whole).substr(14, 11);
  const auto refusal = [&](std::string_view text) -> std::string {
    try {
      (void)compile_expression({text, "program", "/body/1", whole}, scope());
    } catch (const Error& error) {
      EXPECT_EQ(error.where(), "/body/1");
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal(part),
            "program line 2: unknown name 'block.y'; did you mean 'block.x'?\n    let y = t + "
            "block.y # end\n"
            "                ^ (/body/1)");
}

TEST(Expression, RefusesWhatTheScopeDoesNotHave) {
  for (const Case& c : {Case{"sum(t)", "no reductions here"}, Case{"cumsum(t)", "no reductions"},
                        Case{"iota(2)", "axis"}, Case{"twice", "'twice' is a function: call it"},
                        Case{"bad(t)", "in the call at program line 1"}}) {
    try {
      ADD_FAILURE() << c.text << " gives " << lines_of(c.text);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(c.want), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace tilejit::expr
