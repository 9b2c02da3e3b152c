#include <string>

#include "expr_support.hpp"

namespace tilejit::expr {
namespace {

// The type of the value that `expression` has before it is stored.
std::string type_of(const std::string& expression) {
  const std::string formula = "y = where(x_bool, " + expression + ", " + expression + ")";
  const Program program = compile_formula(formula, scope_for(formula, f64));
  for (const Node& node : program.nodes) {
    if (node.op == Op::where) return std::string(to_string(node.type));
  }
  return "no node";
}

struct Typed {
  const char* expression;
  const char* type;
};

TEST(Types, OperandsMeetInTheDocumentedType) {
  constexpr Typed kTyped[] = {
      {"x_i8 + x_i32", "i32"},
      {"x_u8 * x_u64", "u64"},
      {"x_f16 + x_f32", "f32"},
      {"x_bf16 + x_f64", "f64"},
      {"x_i64 + x_f16", "f16"},
      {"x_u8 * x_bf16", "bf16"},
      {"x_bool + x_i8", "i8"},
      {"x_bool + x_bool", "i32"},
      {"x_bool * x_f16", "f16"},
      {"x_f8e4m3 + x_f8e4m3", "f8e4m3"},
      {"x_tf32 * 2.5", "tf32"},
      {"x_f8e5m2 + 1", "f8e5m2"},
      {"x_i8 + 1", "i8"},
      {"x_u64 + 1", "u64"},
      {"x_i8 + 1.0", "f32"},
      {"x_f16 + 1", "f16"},
      {"x_f16 * 0.1", "f16"},
      {"x_bool + 1", "i32"},
      {"x_bool * 0.5", "f32"},
      {"x_i64 * 0.5", "f32"},
      {"x_i8 + true", "i8"},
      {"x_f64 + pi", "f64"},
      {"-x_bool", "i32"},
      {"+x_bool", "i32"},
      {"-x_u8", "u8"},
      {"~x_bool", "bool"},
      {"~x_u16", "u16"},
      {"x_i32 / x_i32", "f32"},
      {"x_i64 / 2", "f32"},
      {"x_bool / x_bool", "f32"},
      {"x_f16 / 2", "f16"},
      {"x_u8 / 1000", "f32"},
      {"x_i16 // 3", "i16"},
      {"x_f16 % 3", "f16"},
      {"x_i32 ** 2", "i32"},
      {"x_f16 ** 2", "f16"},
      {"x_i32 ** 0.5", "f32"},
      {"x_bool & x_bool", "bool"},
      {"x_bool | x_i16", "i16"},
      {"x_u8 << 3", "u8"},
      {"x_i64 >> x_i32", "i64"},
      {"x_i32 < x_f16", "bool"},
      {"x_i32 and x_f16", "bool"},
      {"not x_f16", "bool"},
      {"exp(x_i32)", "f32"},
      {"exp(x_f16)", "f16"},
      {"gelu(x_bool)", "f32"},
      {"sqrt(x_f64)", "f64"},
      {"floor(x_i16)", "i16"},
      {"round(x_f16)", "f16"},
      {"ceil(x_bool)", "i32"},
      {"asin(x_i32)", "f32"},
      {"erfc(x_bf16)", "bf16"},
      {"trunc(x_i16)", "i16"},
      {"trunc(x_bool)", "i32"},
      {"trunc(x_f16)", "f16"},
      {"sign(x_i8)", "i8"},
      {"sign(x_u64)", "u64"},
      {"sign(x_bool)", "i32"},
      {"sign(x_bf16)", "bf16"},
      {"isnan(x_f8e4m3)", "bool"},
      {"isinf(x_i64)", "bool"},
      {"ceil_div(x_i32, 2)", "i32"},
      {"atan2(x_i32, 2)", "f32"},
      {"copysign(x_f16, -1)", "f16"},
      {"hypot(x_f16, x_f64)", "f64"},
      {"fma(x_u8, 2, x_u16)", "u16"},
      {"fma(x_bool, x_bool, x_bool)", "i32"},
      {"fma(x_f16, 2, x_f32)", "f32"},
      {"abs(x_u8)", "u8"},
      {"abs(x_bool)", "i32"},  // stayed bool, unlike other numeric functions
      {"abs(x_i8)", "i8"},
      {"relu(x_i8)", "i8"},
      {"relu(x_bool)", "i32"},
      {"min(x_bool, x_bool)", "i32"},
      {"max(x_i8, 1, 0.5)", "f32"},
      {"clamp(x_f16, 0, 1)", "f16"},
      {"pow(x_f16, x_f32)", "f32"},
      {"where(x_f32, x_bool, false)", "bool"},
      {"where(x_i8, 1, 2.5)", "f32"},
      {"where(x_i8, 1, 5000000000)", "i64"},
      {"where(x_i8, 1, 10000000000000000000)", "u64"},
      {"where(x_i8, 1, x_f16)", "f16"},
      {"cast(x_f32, i8)", "i8"},
      {"tf32(x_f16)", "tf32"},
      {"alpha * x_f16", "f32"},
  };
  for (const Typed& typed : kTyped) {
    SCOPED_TRACE(typed.expression);
    EXPECT_EQ(type_of(typed.expression), typed.type);
  }
}

TEST(Types, RefusesPairsThatNeedACast) {
  struct Refused {
    const char* formula;
    const char* message;
  };
  constexpr Refused kRefused[] = {
      {"y = x_i32 + x_u32", "cannot combine i32 and u32: cast one of them first, e.g. to i64"},
      {"y = x_i64 < x_u8", "cannot combine i64 and u8"},
      {"y = x_f16 * x_bf16", "cannot combine f16 and bf16: cast one of them first, e.g. to f32"},
      {"y = x_f8e4m3 + x_f8e5m2", "cannot combine f8e4m3 and f8e5m2"},
      {"y = x_f8e4m3 + x_f32", "cannot combine f8e4m3 and f32"},
      {"y = x_tf32 + x_f32", "cannot combine tf32 and f32"},
      {"y = x_i32 * x_tf32", "cannot combine i32 and tf32"},
      {"y = where(x_bool, x_f16, x_bf16)", "cannot combine f16 and bf16"},
      {"y = max(x_f32, x_i8, x_u8)", ""},
      {"y = hypot(x_f16, x_bf16)", "cannot combine f16 and bf16"},
      {"y = fma(x_i32, x_u32, 1)", "cannot combine i32 and u32"},
      {"y = x_u8 + 300", "300 does not fit u8 (0 to 255)"},
      {"y = x_u8 + -1", "-1 does not fit u8"},
      {"y = x_i8 < 128", "128 does not fit i8 (-128 to 127)"},
      {"y = x_i64 + 9223372036854775808", "does not fit i64"},
      {"y = x_f32 & 1", "'&' takes integers or bools, not f32 and 1"},
      {"y = x_i32 | 1.5", "'|' takes integers or bools, not i32 and 1.5"},
      {"y = x_f32 << 1", "'<<' takes integers, not f32 and 1"},
      {"y = x_bool >> x_bool", "'>>' takes integers, not bool and bool"},
      {"y = ~x_f32", "'~' takes an integer or bool, not f32"},
  };
  for (const Refused& refused : kRefused) {
    SCOPED_TRACE(refused.formula);
    if (std::string(refused.message).empty()) {  // int operands meet in f32 first: fine
      EXPECT_NO_THROW((void)compiled(refused.formula));
      continue;
    }
    const std::string what = refusal(refused.formula, scope_for(refused.formula));
    EXPECT_NE(what.find(refused.message), std::string::npos) << what;
  }
}

}  // namespace
}  // namespace tilejit::expr
