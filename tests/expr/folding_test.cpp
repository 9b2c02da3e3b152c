#include <string>

#include "expr_support.hpp"

namespace tilejit::expr {
namespace {

// The constant that `expression` folds to, stored to a tensor of `type`.
std::string folded(const std::string& expression, DType type) {
  const Program program = compile_formula("y = " + expression, scope_for("", type));
  const std::vector<std::string> lines = to_lines(program);
  if (program.nodes.size() != 1) return "not folded: " + program_text(program);
  return lines[0].substr(lines[0].find("constant ") + 9);
}

struct Fold {
  const char* expression;
  DType type;
  const char* value;
};

TEST(Folding, LiteralsFoldAsInPython) {
  constexpr Fold kFolds[] = {
      {"7 // 2", i32, "3"},
      {"-7 // 2", i32, "-4"},
      {"7 // -2", i32, "-4"},
      {"-7 % 3", i32, "2"},
      {"7 % -3", i32, "-2"},
      {"-7 % -3", i32, "-1"},
      {"7 / 2", f64, "3.5"},
      {"2 ** 10", i32, "1024"},
      {"(-2) ** 63", i64, "-9223372036854775808"},
      {"2 ** -1", f64, "0.5"},
      {"-2 ** 2", i32, "-4"},
      {"0 ** 0", i32, "1"},
      {"(-1) ** 1000001", i32, "-1"},
      {"1 ** 9223372036854775807", i32, "1"},
      {"7.5 // 2", f64, "3"},
      {"-7.5 // 2", f64, "-4"},
      {"-7.5 % 2", f64, "0.5"},
      {"7.5 % -2", f64, "-0.5"},
      {"1.0 // 0.1", f64, "9"},
      {"-0.0 % 5", f64, "0"},
      {"1 << 40", i64, "1099511627776"},
      {"-1 >> 70", i32, "-1"},
      {"5 >> 1", i32, "2"},
      {"~5", i32, "-6"},
      {"~true", b8, "0"},
      {"6 & 3 | 8 ^ 1", i32, "11"},
      {"true + true", i32, "2"},
      {"1 < 2", b8, "1"},
      {"nan == nan", b8, "0"},
      {"1 and 0.0", b8, "0"},
      {"not 0", b8, "1"},
      {"0 or nan", b8, "1"},
      {"exp(0)", f64, "1"},
      {"sqrt(2)", f64, "1.4142135623730951"},
      {"floor(-1.5)", f64, "-2"},
      {"round(2.5)", f64, "2"},
      {"round(-0.4)", f64, "-0"},
      {"ceil(3)", i32, "3"},
      {"abs(-3)", i32, "3"},
      {"abs(-2.5)", f64, "2.5"},
      {"min(3, 1, 2)", i32, "1"},
      {"max(1, 2.5)", f64, "2.5"},
      {"max(nan, 1)", f64, "1"},
      {"min(1, nan)", f64, "1"},
      {"clamp(5, 0, 3)", i32, "3"},
      {"clamp(nan, 0, 1)", f64, "nan"},
      {"clamp(0, 3, 1)", i32, "1"},
      {"relu(-2)", i32, "0"},
      {"relu(nan)", f64, "nan"},
      {"where(true, 1, 2.0)", f64, "1"},
      {"where(0, 1, 2)", i32, "2"},
      {"pow(2, 3)", i32, "8"},
      {"sigmoid(0)", f64, "0.5"},
      {"gelu(0.0)", f64, "0"},
      {"asin(1)", f64, "1.5707963267948966"},
      {"acos(1)", f64, "0"},
      {"atan(0)", f64, "0"},
      {"sinh(0)", f64, "0"},
      {"cosh(0)", f64, "1"},
      {"log10(100)", f64, "2"},
      {"log1p(0)", f64, "0"},
      {"expm1(0)", f64, "0"},
      {"cbrt(8)", f64, "2"},
      {"erfc(0)", f64, "1"},
      {"trunc(-1.5)", f64, "-1"},
      {"trunc(7)", i32, "7"},
      {"atan2(0, -1)", f64, "3.141592653589793"},
      {"copysign(3, -0.0)", f64, "-3"},
      {"hypot(3, 4)", f64, "5"},
      {"fma(2, 3, 4)", i32, "10"},
      {"fma(0.5, 3, 4)", f64, "5.5"},
      {"sign(-7)", i32, "-1"},
      {"sign(true)", i32, "1"},
      {"sign(-0.0)", f64, "-0"},
      {"sign(nan)", f64, "nan"},
      {"isnan(nan)", b8, "1"},
      {"isnan(inf)", b8, "0"},
      {"isinf(-inf)", b8, "1"},
      {"isinf(3)", b8, "0"},
      {"ceil_div(7, 2)", i32, "4"},
      {"ceil_div(8, 2)", i32, "4"},
      {"ceil_div(-7, 2)", i32, "-3"},
      {"ceil_div(9223372036854775807, 2)", i64, "4611686018427387904"},
      {"9223372036854775807 + 1", u64, "9223372036854775808"},
  };
  for (const Fold& fold : kFolds) {
    SCOPED_TRACE(fold.expression);
    EXPECT_EQ(folded(fold.expression, fold.type), fold.value);
  }
}

TEST(Folding, CastsOfLiteralsFollowTheRulesOfCasts) {
  constexpr Fold kFolds[] = {
      {"i8(300)", i8, "44"},
      {"i8(200.7)", i8, "-56"},
      {"u8(-1)", u8, "255"},
      {"i32(-2.9)", i32, "-2"},
      {"i32(1e20)", i32, "2147483647"},
      {"i32(-inf)", i32, "-2147483648"},
      {"u32(-5.0)", u32, "0"},
      {"u32(inf)", u32, "4294967295"},
      {"i64(nan)", i64, "0"},
      {"i64(1e300)", i64, "9223372036854775807"},
      {"u64(1e300)", u64, "18446744073709551615"},
      {"i8(1e20)", i8, "-1"},
      {"bool(0.5)", b8, "1"},
      {"bool(-0.0)", b8, "0"},
      {"bool(nan)", b8, "1"},
      {"f16(0.1)", f16, "0.0999755859375"},
      {"f16(65519.99)", f16, "65504"},
      {"f16(65520)", f16, "inf"},
      {"f16(1e-8)", f16, "0"},
      {"f16(3e-8)", f16, "5.960464477539063e-08"},
      {"bf16(1.00390625)", bf16, "1"},
      {"bf16(1.01171875)", bf16, "1.015625"},
      {"bf16(16842753)", bf16,
       "16908288"},  // one more than a tie: rounding twice would give 16777216
      {"f8e4m3(1e9)", f8e4m3, "448"},
      {"f8e4m3(-inf)", f8e4m3, "-448"},
      {"f8e4m3(nan)", f8e4m3, "nan"},
      {"f8e4m3(0.3)", f8e4m3, "0.3125"},
      {"f8e5m2(60000)", f8e5m2, "57344"},
      {"tf32(1.00048828125)", tf32, "1.0009765625"},  // a tie: away from zero
      {"f32(16777217)", f32, "16777216"},
      {"f32(1e39)", f32, "inf"},
      {"f64(0.1)", f64, "0.1"},
      {"bf16(9259400833873739777)", bf16, "9295429630892703744"},  // a tie in f64 and in f32
  };
  for (const Fold& fold : kFolds) {
    SCOPED_TRACE(fold.expression);
    EXPECT_EQ(folded(fold.expression, fold.type), fold.value);
  }
}

TEST(Folding, StoresTakeTheTypeOfTheTensor) {
  constexpr Fold kFolds[] = {
      {"3", f16, "3"},
      {"2.9", i32, "2"},
      {"true", f32, "1"},
      {"0.5", b8, "1"},
      {"7", b8, "1"},
      {"0.1", f16, "0.10000000149011612"},  // in f32, in which f16 computes; the store rounds
  };
  for (const Fold& fold : kFolds) {
    SCOPED_TRACE(fold.expression);
    EXPECT_EQ(folded(fold.expression, fold.type), fold.value);
  }
}

TEST(Folding, StaysWeakThroughTemporariesAndFunctions) {
  Scope scope = scope_for("x_f16", f16);
  scope.functions = {{"half", {"x"}, "x / 2"}};
  const Program program = compile_formula("k = 3\ns = half(k)\ny = x_f16 * s", scope);
  EXPECT_EQ(program_text(program),
            "v0: f16 = load t0; v1: f16 = constant 1.5; v2: f16 = mul v0 v1; store t1 v2");
}

TEST(Folding, RefusesWhatHasNoValue) {
  struct Refused {
    const char* formula;
    const char* message;
  };
  constexpr Refused kRefused[] = {
      {"y = 1 / 0", "division of literals by zero"},
      {"y = 1 // 0", "division of literals by zero"},
      {"y = 1.0 % 0.0", "division of literals by zero"},
      {"y = 0 ** -1", "0 has no negative power"},
      {"y = (-8) ** 0.5", "a negative number has no fractional power"},
      {"y = 2 ** 64", "exceeds 64 bits"},
      {"y = 3 ** 9223372036854775807", "exceeds 64 bits"},
      {"y = fma(4294967296, 4294967296, 0)", "exceeds 64 bits"},
      {"y = 18446744073709551615 + 1", "exceeds 64 bits"},
      {"y = 18446744073709551615 * 18446744073709551615", "exceeds 64 bits"},
      {"y = -9223372036854775808 - 1", "exceeds 64 bits"},
      {"y = -18446744073709551615", "exceeds 64 bits"},
      {"y = 1 << 64", "exceeds 64 bits"},
      {"y = 1 << 9223372036854775807", "exceeds 64 bits"},
      {"y = 1 << -1", "a shift count is not negative"},
      {"y = 1.5 & 2", "take integers"},
      {"y = ~1.5", "'~' takes an integer, not 1.5"},
  };
  for (const Refused& refused : kRefused) {
    SCOPED_TRACE(refused.formula);
    const std::string what = refusal(refused.formula, scope_for(refused.formula));
    EXPECT_NE(what.find(refused.message), std::string::npos) << what;
  }
}

}  // namespace
}  // namespace tilejit::expr
