#include <chrono>
#include <string>

#include "expr_support.hpp"

namespace tilejit::expr {
namespace {

std::string repeated(std::string_view piece, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += piece;
  return text;
}

// fn1 calls fn0 twice, fn2 calls fn1 twice, ...: without memoised inlining 2^depth bodies.
Scope doubling(const std::string& left, const std::string& right, int depth) {
  Scope scope = scope_for("x_f32");
  scope.functions.push_back({"fn0", {"a"}, "a"});
  for (int i = 1; i <= depth; ++i) {
    const std::string callee = "fn" + std::to_string(i - 1);
    scope.functions.push_back({"fn" + std::to_string(i),
                               {"a"},
                               callee + "(" + left + ") + " + callee + "(" + right + ")"});
  }
  return scope;
}

class Stopwatch {
 public:
  // Far above what is needed even under sanitizers, far below what exponential work would take.
  ~Stopwatch() { EXPECT_LT(std::chrono::steady_clock::now() - start_, std::chrono::seconds(20)); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

struct Refused {
  const char* name;
  std::string formula;
  const char* message;
};

// "+exp(x*0.5)+exp(x*1.5)...": terms that differ.
std::string numbered(const std::string& before, int count, const std::string& after) {
  std::string text;
  for (int i = 0; i < count; ++i) text += before + std::to_string(i) + after;
  return text;
}

TEST(Limits, RefusesWhatIsTooLargeQuickly) {
  const Refused kRefused[] = {
      {"a megabyte", "y = " + std::string(1 << 20, '1'),
       "the text has 1048580 bytes, at most 65536"},
      {"nested parentheses", "y = " + repeated("(", 10000) + "1" + repeated(")", 10000),
       "nest at most 200 levels"},
      {"open parentheses", "y = " + repeated("(", 60000), "nest at most 200 levels"},
      {"nested calls", "y = " + repeated("exp(", 10000), "nest at most 200 levels"},
      {"signs", "y = " + repeated("-", 50000) + "1", "nest at most 200 levels"},
      {"nots", "y = " + repeated("not ", 10000) + "1", "nest at most 200 levels"},
      {"powers", "y = 1" + repeated(" ** 1", 10000), "nest at most 200 levels"},
      {"operations", "y = x_f32" + repeated("*2", 30000), "more than 20000 operations"},
      {"functions", "y = exp(x_f32)" + numbered("+exp(x_f32*", 1001, ".5)"),
       "more than 1000 divisions and functions"},
      {"a long number", "y = " + repeated("9", 60000), "at most 64 bits"},
      {"a long name", "y = " + repeated("a", 60000), "at most 64 characters"},
      {"a long line", "y = x_f32 " + repeated("+ 1 ", 10000) + ")", "found ')'"},
  };
  for (const Refused& refused : kRefused) {
    SCOPED_TRACE(refused.name);
    const Stopwatch stopwatch;
    const std::string what = refusal(refused.formula, scope_for("x_f32"));
    EXPECT_NE(what.find(refused.message), std::string::npos) << what.substr(0, 200);
    EXPECT_LT(what.size(), 400u);
  }
}

TEST(Limits, AcceptsWhatIsJustSmallEnough) {
  const std::string kAccepted[] = {
      "y = " + repeated("(", 199) + "x_f32" + repeated(")", 199),
      "y = x_f32" + repeated("+x_f32", 10000),
      "y = " + repeated("max(", 100) + "x_f32" + repeated(", 1)", 100),
      "y = x_f32" + repeated("\n", 65536 - 9),
  };
  for (const std::string& formula : kAccepted) {
    SCOPED_TRACE(formula.substr(0, 20));
    const Stopwatch stopwatch;
    EXPECT_NO_THROW((void)compile_formula(formula, scope_for("x_f32")));
  }
}

TEST(Limits, EqualCallsAreInlinedOnce) {
  const Stopwatch stopwatch;
  const Program program = compile_formula("y = fn60(x_f32)", doubling("a", "a", 60));
  EXPECT_EQ(program.nodes.size(), 61u);  // a load, 60 additions
}

TEST(Limits, ExplodingFunctionsAreRefused) {
  const Stopwatch stopwatch;
  const std::string typed =
      refusal("y = fn60(x_f32)", doubling("a * 2", "a * 3", 60), "/functions/fn1/expr");
  EXPECT_NE(typed.find(" after its functions are inlined"), std::string::npos) << typed;
  Scope literals = doubling("a + 1", "a * 3", 30);
  literals.tensors = {{"y", f32}};
  const std::string weak = refusal("y = fn30(1.0)", literals, "/functions/fn4/expr");
  EXPECT_NE(weak.find(" after its functions are inlined"), std::string::npos) << weak;
}

TEST(Limits, ChainsOfFunctionsAreBounded) {
  Scope scope = scope_for("x_f32");
  for (int i = 0; i < 1000; ++i) {
    const std::string callee = i == 0 ? "exp" : "fn" + std::to_string(i - 1);
    scope.functions.push_back({"fn" + std::to_string(i), {"a"}, callee + "(a)"});
  }
  EXPECT_NO_THROW((void)compile_formula("y = fn150(x_f32)", scope));
  const std::string what = refusal("y = fn999(x_f32)", scope, "/functions/fn800/expr");
  EXPECT_NE(what.find("more than 200 levels deep"), std::string::npos) << what;
}

TEST(Limits, SameTextGivesTheSameProgram) {
  const std::string formula = "t = gelu(x_f16 + x_i8) ** 2; y = where(t > 0, t, alpha) % 3";
  const Scope scope = scope_for(formula, f8e4m3);
  const Program first = compile_formula(formula, scope);
  for (int i = 0; i < 3; ++i) {
    const Program again = compile_formula(formula, scope);
    EXPECT_EQ(again, first);
    EXPECT_EQ(to_lines(again), to_lines(first));
    EXPECT_EQ(emit_cuda(again), emit_cuda(first));
  }
}

}  // namespace
}  // namespace tilejit::expr
