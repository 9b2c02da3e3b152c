#include <string>
#include <vector>

#include "expr_support.hpp"

namespace tilejit::expr {
namespace {

Scope with_functions(std::vector<FunctionText> functions) {
  Scope scope = scope_for("x_f32");
  scope.functions = std::move(functions);
  return scope;
}

TEST(Functions, AreInlinedWithTheirArgumentsEvaluatedOnce) {
  const Scope scope = with_functions({{"mul_relu", {"a", "b"}, "where(a * b > 0,\n a * b, 0)"}});
  EXPECT_EQ(program_text(compile_formula("y = mul_relu(exp(x_f32), 2)", scope)),
            "v0: f32 = load t0; v1: f32 = exp v0; v2: f32 = constant 2; v3: f32 = mul v1 v2; "
            "v4: f32 = constant 0; v5: bool = gt v3 v4; v6: f32 = where v5 v3 v4; store t1 v6");
}

TEST(Functions, CallEachOtherInAnyOrderAndTakeNoArguments) {
  const Scope scope = with_functions(
      {{"twice", {"v"}, "once(once(v))"}, {"once", {"x_f32"}, "x_f32 + one()"}, {"one", {}, "1"}});
  EXPECT_EQ(program_text(compile_formula("y = twice(x_f32)", scope)),
            "v0: f32 = load t0; v1: f32 = constant 1; v2: f32 = add v0 v1; v3: f32 = add v2 v1; "
            "store t1 v3");
}

TEST(Functions, RefusesWithTheFunctionsPlace) {
  struct Refused {
    std::vector<FunctionText> functions;
    const char* where;
    const char* message;
  };
  const Refused kRefused[] = {
      {{{"f", {"a"}, "f(a)"}}, "/functions/f/expr", "functions call themselves: f -> f"},
      {{{"f", {"a"}, "g(a)"}, {"g", {"a"}, "h(a)"}, {"h", {"a"}, "g(a)"}},
       "/functions/g/expr",
       "functions call themselves: g -> h -> g"},
      {{{"f", {"a"}, "a +"}}, "/functions/f/expr", "function f line 1: expected an expression"},
      {{{"f", {"a"}, ""}},
       "/functions/f/expr",
       "expected an expression, found the end of the text"},
      {{{"f", {"a"}, "a; a"}}, "/functions/f/expr", "expected the end of the expression"},
      {{{"f", {"a"}, "a = 1"}},
       "/functions/f/expr",
       "expected the end of the expression, found '='"},
      {{{"f", {"a"}, "b"}},
       "/functions/f/expr",
       "unknown name 'b'; a function sees its arguments only"},
      {{{"f", {"a"}, "x_f32"}}, "/functions/f/expr", "a function sees its arguments only"},
      {{{"f", {"scale"}, "scal"}}, "/functions/f/expr", "did you mean 'scale'?"},
      {{{"f", {"a"}, "g(a)"}}, "/functions/f/expr", "unknown function 'g'"},
      {{{"f", {"a"}, "exp(a, a)"}}, "/functions/f/expr", "'exp' takes 1 argument, not 2"},
      {{{"f", {"a"}, "a"}, {"g", {"a"}, "f(a, a)"}},
       "/functions/g/expr",
       "'f' takes 1 argument, not 2"},
      {{{"f", {"a"}, "a"}, {"f", {"a"}, "a"}}, "/functions/f", "function 'f' is defined twice"},
      {{{"f", {"a", "a"}, "a"}}, "/functions/f/args", "argument 'a' of function f appears twice"},
      {{{"f", {"exp"}, "1"}}, "/functions/f/args", "argument 'exp' is a word of the language"},
      {{{"f", {"a b"}, "1"}}, "/functions/f/args", "argument 'a b' is not a name"},
      {{{"max", {"a"}, "a"}}, "/functions", "function 'max' is a word of the language"},
      {{{"a/b", {"a"}, "a"}}, "/functions", "function 'a/b' is not a name"},
      {{{"f", {"a"}, std::string(70000, ' ') + "a"}},
       "/functions/f/expr",
       "at most 65536 are allowed"},
  };
  for (const Refused& refused : kRefused) {
    SCOPED_TRACE(refused.message);
    const std::string what = refusal("y = x_f32", with_functions(refused.functions), refused.where);
    EXPECT_NE(what.find(refused.message), std::string::npos) << what;
  }
}

TEST(Functions, TypeErrorsNameTheFunctionAndTheCall) {
  const Scope scope = with_functions({{"f", {"a"}, "g(a)"}, {"g", {"a"}, "1 +\n(a & 1)"}});
  const std::string what = refusal("t = 1\ny = f(x_f32)", scope, "/functions/g/expr");
  EXPECT_EQ(what.rfind("function g line 2: '&' takes integers or bools, not f32 and 1\n"
                       "    (a & 1)\n"
                       "       ^\n"
                       "  in the call at formula line 2",
                       0),
            0u)
      << what;
}

TEST(Functions, WrongNumberOfArgumentsPointsToTheFormula) {
  const std::string what = refusal("y = f(x_f32)", with_functions({{"f", {"a", "b"}, "a + b"}}));
  EXPECT_NE(what.find("'f' takes 2 arguments, not 1"), std::string::npos) << what;
}

}  // namespace
}  // namespace tilejit::expr
