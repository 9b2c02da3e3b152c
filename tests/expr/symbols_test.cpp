#include <string>

#include "core/text.hpp"
#include "expr_support.hpp"

namespace tilejit::expr {
namespace {

TensorSymbol tensor(const char* name, DType dtype, const char* access = "automatic") {
  const std::string declared = access;
  TensorSymbol symbol;
  symbol.name = name;
  symbol.dtype = dtype;
  symbol.readable_first = declared != "out";
  symbol.writable = declared != "in";
  symbol.must_declare = declared == "automatic";
  return symbol;
}

TEST(Symbols, OutputsReadBackWhatWasStored) {
  const Scope scope{.tensors = {tensor("x", f16), tensor("y", f16), tensor("z", f32)}};
  EXPECT_EQ(program_text(compile_formula("y = x * 3; z = y + y", scope)),
            "v0: f16 = load t0; v1: f16 = constant 3; v2: f16 = mul v0 v1; v3: f16 = cast v2; "
            "v4: f16 = add v3 v3; v5: f32 = cast v4; store t1 v2; store t2 v5");
}

TEST(Symbols, InPlaceOperationsReadThenWrite) {
  const Scope scope{.tensors = {tensor("x", f32, "inout")}};
  EXPECT_EQ(program_text(compile_formula("x = relu(x)", scope)),
            "v0: f32 = load t0; v1: f32 = relu v0; store t0 v1");
}

TEST(Symbols, EqualValuesExistOnceAndDeadOnesVanish) {
  const Scope scope{.tensors = {tensor("x", f32), tensor("y", f32), tensor("z", f32)}};
  const Program program =
      compile_formula("t = exp(x + 1); u = sin(x); y = t; z = exp(x + 1)", scope);
  EXPECT_EQ(program_text(program),
            "v0: f32 = load t0; v1: f32 = constant 1; v2: f32 = add v0 v1; v3: f32 = exp v2; "
            "store t1 v3; store t2 v3");
}

TEST(Symbols, NansAreOneConstantAndProgramsCompareByBits) {
  const Scope scope{.tensors = {tensor("x", f32), tensor("y", f32)}};
  const Program nan = compile_formula("y = max(x, nan) + nan", scope);
  EXPECT_EQ(nan.nodes.size(), 4u);
  EXPECT_EQ(nan, compile_formula("y = max(x, nan) + nan", scope));
  EXPECT_NE(compile_formula("y = x + 0.0", scope), compile_formula("y = x + -0.0", scope));
}

TEST(Symbols, RefusesAssignmentsAndReadsOutOfOrder) {
  struct Refused {
    const char* access;  // of x; y is automatic
    const char* formula;
    const char* message;
  };
  constexpr Refused kRefused[] = {
      {"automatic", "x = x + 1; y = 1",
       "tensor 'x' is read and then assigned: declare it \"access\": \"inout\""},
      {"automatic", "y = x; x = 3", "declare it \"access\": \"inout\""},
      {"out", "y = x; x = 3",
       "output 'x' is read before it is assigned; declare it \"access\": \"inout\""},
      {"in", "x = 1; y = 2", "tensor 'x' is declared \"in\" and cannot be assigned"},
      {"out", "y = 1", "tensor 'x' is declared as an output but never assigned"},
      {"inout", "y = x", "tensor 'x' is declared as an output but never assigned"},
      {"in", "y = x; y = x", "output 'y' is assigned twice"},
      {"in", "y = 1", "tensor 'x' is never used for an output; remove it"},
      {"in", "t = x; y = 1", "tensor 'x' is never used for an output; remove it"},
      {"in", "y = x", "scalar 's' is never used for an output; remove it"},
      {"in", "t = x + s", "no tensor is assigned"},
      {"in", "", "no tensor is assigned"},
      {"in", "# nothing", "no tensor is assigned"},
      {"in", "s = x; y = s", "'s' is a scalar and cannot be assigned"},
      {"in", "f = x; y = f", "'f' is a function and cannot be assigned"},
      {"in", "exp = x; y = s", "'exp' is a word of the language and cannot be assigned"},
      {"in", "f16 = x; y = s", "'f16' is a word of the language"},
      {"in", "true = x; y = s", "'true' is a word of the language"},
      {"in", "t = x; t = t + s; y = t", "temporary 't' is assigned twice"},
      {"in", "y = t + s; t = x", "temporary 't' is read before it is assigned"},
      {"in", "t = t + x; y = t", "temporary 't' is read before it is assigned"},
      {"in", "y = x + f", "'f' is a function: call it"},
      {"in", "y = x(s)", "unknown function 'x'"},
  };
  for (const Refused& refused : kRefused) {
    SCOPED_TRACE(refused.formula);
    const Scope scope{.tensors = {tensor("x", f32, refused.access), tensor("y", f32)},
                      .scalars = {{"s", f32}},
                      .functions = {{"f", {"a"}, "a + 1"}}};
    const std::string what = refusal(refused.formula, scope);
    EXPECT_NE(what.find(refused.message), std::string::npos) << what;
  }
}

// Functions that were added later must not take names from formulas that already use them.
constexpr const char* kDeclarable[] = {
    "asin", "acos",  "atan", "atan2",    "sinh",  "cosh", "log1p", "expm1", "isnan",   "isinf",
    "fma",  "trunc", "sign", "copysign", "hypot", "cbrt", "log10", "erfc",  "ceil_div"};

TEST(Symbols, DeclaredNamesHideNewFunctions) {
  for (const std::string name : kDeclarable) {
    SCOPED_TRACE(name);
    EXPECT_FALSE(is_reserved(name));
    const Scope of_tensor{.tensors = {tensor(name.c_str(), f32), tensor("y", f32)}};
    EXPECT_EQ(to_lines(compile_formula("y = " + name, of_tensor)).back(), "store t1 v0");
    const Scope plain{.tensors = {tensor("x", f32), tensor("y", f32)}};
    EXPECT_EQ(to_lines(compile_formula(name + " = -x; y = " + name, plain)).back(), "store t1 v1");
    Scope of_function = plain;
    of_function.functions = {{name, {"a"}, "-a"}, {"f", {name}, name + "(" + name + ")"}};
    EXPECT_EQ(to_lines(compile_formula("y = f(x)", of_function))[1], "v1: f32 = neg v0");
    const std::string what = refusal("y = x * " + name, plain);
    EXPECT_NE(what.find("'" + name + "' is a function: call it"), std::string::npos) << what;
  }
}

TEST(Symbols, ReservedNamesAndIdentifiers) {
  for (const char* name : {"and", "or", "not", "true", "inf", "nan", "pi", "cast", "where",
                           "gelu_tanh", "f8e4m3", "bool", "u64"}) {
    EXPECT_TRUE(is_reserved(name)) << name;
  }
  for (const char* name : {"x", "And", "expo", "f17", ""}) EXPECT_FALSE(is_reserved(name)) << name;
  for (const std::string& name :
       {std::string("x"), std::string("_1"), std::string("aB_9"), std::string(64, 'a')}) {
    EXPECT_TRUE(core::is_identifier(name)) << name;
  }
  for (const std::string& name :
       {std::string(), std::string("1x"), std::string("a b"), std::string("a-b"),
        std::string("\xC3\xA9"), std::string(65, 'a')}) {
    EXPECT_FALSE(core::is_identifier(name)) << name;
  }
}

}  // namespace
}  // namespace tilejit::expr
