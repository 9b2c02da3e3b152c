#include <set>
#include <string>

#include "expr_support.hpp"

namespace tilejit::expr {
namespace {

std::string emitted(std::string_view formula, DType output = f32) {
  return emit_cuda(compile_formula(formula, scope_for(formula, output)));
}

TEST(Emit, OneStatementANode) {
  EXPECT_EQ(emitted("y = gelu(x_f16 + alpha) * 0.5", f16),
            "const float v0 = t0;\n"
            "const float v1 = p.s0;\n"
            "const float v2 = v0;\n"
            "const float v3 = v2 + v1;\n"
            "const float v4 = math::gelu(v3);\n"
            "const float v5 = 0x1p-1f;\n"
            "const float v6 = v4 * v5;\n"
            "y1 = v6;\n");
}

TEST(Emit, CastThatIsAlsoReadRoundsOnce) {
  EXPECT_EQ(emitted("y = f16(x_f32) + 1", f16),
            "const float v0 = t0;\n"
            "const float v1 = round_to<f16>(v0);\n"
            "const float v2 = 0x1p+0f;\n"
            "const float v3 = v1 + v2;\n"
            "y1 = v3;\n");
}

struct Line {
  const char* formula;
  DType output;
  const char* line;
};

TEST(Emit, EveryKindOfOperation) {
  constexpr Line kLines[] = {
      {"y = x_i8 + 1", i8, "const i8 v2 = math::add(v0, v1);"},
      {"y = x_f64 - 1", f64, "const double v2 = v0 - v1;"},
      {"y = -x_u16", u16, "const u16 v1 = math::neg(v0);"},
      {"y = -x_f16", f16, "const float v1 = -v0;"},
      {"y = 0 - x_i32", i32, "const i32 v2 = math::neg(v0);"},
      {"y = x_i16 * -1", i16, "const i16 v2 = math::neg(v0);"},
      {"y = 1 + ~x_i64", i64, "const i64 v3 = math::neg(v0);"},
      {"y = 0 - x_f64", f64, "const double v2 = v1 - v0;"},
      {"y = x_i32 / x_i32", f32, "const float v2 = math::div_of_zeros(v1, v1);"},
      {"y = x_f32 // 2", f32, "const float v2 = math::floor_div(v0, v1);"},
      {"y = x_i32 % 3", i32, "const i32 v2 = math::mod(v0, v1);"},
      {"y = x_i32 ** 3", i32, "const i32 v2 = math::pow(v0, v1);"},
      {"y = x_f32 ** 1.5", f32, "const float v2 = powf(v0, v1);"},
      {"y = x_f64 ** 1.5", f64, "const double v2 = pow(v0, v1);"},
      {"y = atan2(x_f32, x_f32)", f32, "const float v1 = atan2f(v0, v0);"},
      {"y = fma(x_f64, x_f64, 1)", f64, "const double v2 = fma(v0, v0, v1);"},
      {"y = fma(x_i8, x_i8, 1)", i8, "const i8 v3 = math::add(v2, v1);"},
      {"y = log1p(x_f16)", f16, "const float v1 = log1pf(v0);"},
      {"y = trunc(x_f64)", f64, "const double v1 = trunc(v0);"},
      {"y = isinf(x_f32)", b8, "const bool v3 = v1 == v2;"},
      {"y = x_u8 << 2", u8, "const u8 v2 = math::shl(v0, v1);"},
      {"y = x_i64 >> 2", i64, "const i64 v2 = math::shr(v0, v1);"},
      {"y = x_bool ^ true", b8, "const bool v2 = v0 ^ v1;"},
      {"y = ~x_i16", i16, "const i16 v1 = ~v0;"},
      {"y = ~x_bool", b8, "const bool v1 = !v0;"},
      {"y = x_bool and x_f32", b8, "const bool v3 = v0 && v2;"},
      {"y = x_f32 != 0.0", b8, "const bool v2 = v0 != v1;"},
      {"y = where(x_bool, x_i8, 0)", i8, "const i8 v3 = v0 ? v1 : v2;"},
      {"y = min(x_f16, 0)", f16, "const float v2 = fminf(v0, v1);"},
      {"y = max(x_u32, 1)", u32, "const u32 v2 = math::max(v0, v1);"},
      {"y = abs(x_f64)", f64, "const double v1 = fabs(v0);"},
      {"y = abs(x_i8)", i8, "const i8 v1 = math::abs(v0);"},
      {"y = rsqrt(x_f32)", f32, "const float v1 = rsqrtf(v0);"},
      {"y = rsqrt(abs(x_f32) + 1)", f32, "const float v4 = math::rsqrt_of_normal(v3);"},
      {"y = sin(x_f32)", f32, "const float v1 = math::sin(v0);"},
      {"y = sin(x_f16)", f32, "math::sin_of_moderate("},
      {"y = cos(sigmoid(x_f32))", f32, "const float v2 = math::cos_of_moderate(v1);"},
      {"y = tan(f32(x_u8))", f32, "const float v2 = math::tan_of_moderate(v1);"},
      {"y = sin(x_f16 + x_f16)", f32, "math::sin("},
      {"y = sin(f64(x_f16))", f64, "const double v2 = sin(v1);"},
      {"y = exp(x_f32)", f32, "const float v1 = expf(v0);"},
      {"y = exp(x_bf16)", bf16, "const float v1 = math::fast_exp(v0);"},
      {"y = log(x_bf16)", bf16, "const float v1 = math::fast_log(v0);"},
      {"y = erf(x_f16)", f16, "math::fast_erf("},
      {"y = log(f32(x_bf16))", bf16, "const float v2 = logf(v1);"},
      {"y = exp(f32(x_bf16))", bf16, "const float v2 = expf(v1);"},
      {"y = x_f16 / x_f16", f16, "const float v1 = math::fast_div(v0, v0);"},
      {"y = x_f32 / x_f16", f32, "/ v"},
      {"y = x_f32 / 6", f32, "const float v2 = math::div_by_whole(v0, v1);"},
      {"y = x_f16 / 6", f16, "const float v2 = math::div_by_whole(v0, v1);"},
      {"y = x_f32 / 4", f32, "const float v2 = v0 / v1;"},
      {"y = x_f32 / 6.5", f32, "const float v2 = v0 / v1;"},
      {"y = x_f32 / -6", f32, "const float v2 = v0 / v1;"},
      {"y = relu(x_f32) / x_f32", f32, "const float v2 = math::div_of_zeros(v1, v0);"},
      {"y = where(x_bool, 0.0, x_f32) * 2 / x_f32", f32, "math::div_of_zeros("},
      {"y = max(x_f32, 1.0) / x_f32", f32, "const float v3 = v2 / v0;"},
      {"y = x_f32 / (abs(x_f32) + 1)", f32, "const float v4 = math::div_from_one(v0, v3);"},
      {"y = relu(x_f32) / max(x_f32, 2)", f32, "math::div_from_one("},
      {"y = x_f32 / (abs(x_f32) + 0.5)", f32, "const float v4 = v0 / v3;"},
      {"y = x_f64 / (abs(x_f64) + 1)", f64, "const double v4 = v0 / v3;"},
      {"y = x_f16 / (abs(x_f16) + 1)", f16, "math::fast_div("},
      {"y = sqrt(abs(x_f32) + 0.5)", f32, "const float v4 = math::root_of_normal(v3);"},
      {"y = sqrt(abs(x_f32))", f32, "const float v2 = sqrtf(v1);"},
      {"y = relu(x_f64) / x_f64", f64, "const double v2 = v1 / v0;"},
      {"y = relu(x_f16) / x_f16", f16, "const float v2 = math::fast_div(v1, v0);"},
      {"y = x_f64 / 6", f64, "const double v2 = v0 / v1;"},
      {"y = silu(x_f16)", f16, "const float v1 = math::fast_silu(v0);"},
      {"y = round(x_f32)", f32, "const float v1 = rintf(v0);"},
      {"y = clamp(x_f32, 0, 6)", f32, "const float v3 = math::clamp(v0, v1, v2);"},
      {"y = i8(x_f32)", i8, "const i8 v1 = math::truncate<i8>(v0);"},
      {"y = u64(x_i8)", u64, "const u64 v1 = static_cast<u64>(v0);"},
      {"y = bool(x_f16)", b8, "const bool v1 = v0 != 0;"},
      {"y = f32(x_f64)", f32, "const float v1 = static_cast<float>(v0);"},
      {"y = f64(x_f16)", f64, "const double v1 = static_cast<double>(v0);"},
      {"y = bf16(x_i8) + 1", bf16, "const float v1 = static_cast<float>(v0);"},
      {"y = f16(x_u8) + 1", f16, "const float v1 = static_cast<float>(v0);"},
      {"y = f8e4m3(x_u8) + 1", f8e4m3,
       "const float v1 = round_to<f8e4m3>(static_cast<float>(v0));"},
      {"y = bf16(x_f64) + 1", bf16, "const float v1 = round_to<bf16>(math::round_odd(v0));"},
      {"y = x_f64", bf16, "y1 = math::round_odd(v0);"},
      {"y = x_i32", bf16, "y1 = math::round_odd(v0);"},
      {"y = x_i32", f8e4m3, "y1 = static_cast<float>(v0);"},
      {"y = x_f32", tf32, "y1 = v0;"},
      {"y = x_f32", i16, "y1 = v1;"},
      {"y = x_bool", b8, "y1 = v0;"},
  };
  for (const Line& line : kLines) {
    SCOPED_TRACE(line.formula);
    const std::string text = emitted(line.formula, line.output);
    EXPECT_NE(text.find(line.line), std::string::npos) << text;
  }
}

TEST(Emit, ConstantsAreExact) {
  constexpr Line kLines[] = {
      {"y = 0.1", f32, "const float v0 = 0x1.99999ap-4f;"},
      {"y = 0.1", f64, "const double v0 = 0x1.999999999999ap-4;"},
      {"y = -0.0", f32, "const float v0 = -0x0p+0f;"},
      {"y = 1e-45", f32, "const float v0 = 0x1p-149f;"},
      {"y = inf", f32, "const float v0 = math::inf_f32();"},
      {"y = -inf", f64, "const double v0 = -math::inf_f64();"},
      {"y = nan", f16, "const float v0 = math::nan_f32();"},
      {"y = -2147483648", i32, "const i32 v0 = -2147483647 - 1;"},
      {"y = -9223372036854775808", i64, "const i64 v0 = -9223372036854775807ll - 1;"},
      {"y = 9223372036854775807", i64, "const i64 v0 = 9223372036854775807ll;"},
      {"y = 18446744073709551615", u64, "const u64 v0 = 18446744073709551615ull;"},
      {"y = 4294967295", u32, "const u32 v0 = 4294967295u;"},
      {"y = -128", i8, "const i8 v0 = -128;"},
      {"y = true", b8, "const bool v0 = true;"},
  };
  for (const Line& line : kLines) {
    SCOPED_TRACE(line.formula);
    const std::string text = emitted(line.formula, line.output);
    EXPECT_NE(text.find(line.line), std::string::npos) << text;
  }
}

// Whatever the formula's text says, the source contains only our own words.
TEST(Emit, NoTextOfTheFormulaGetsThrough) {
  const std::string text =
      emitted("evil_temporary = x_f32 # */ asm(\"trap;\")\ny = evil_temporary");
  EXPECT_EQ(text, "const float v0 = t0;\ny1 = v0;\n");
}

// NVRTC tried each const integer as a constant expression, in time that grew cubically.
TEST(Emit, LongFormulasHaveNoConstAndComeInFunctions) {
  const auto text_of = [](int additions) {
    std::string formula = "t0 = x_i32\n";
    for (int i = 1; i <= additions; ++i) {
      formula += "t" + std::to_string(i) + " = t" + std::to_string(i - 1) + " * 3 + x_i32\n";
    }
    return emitted(formula + "y = t" + std::to_string(additions), i32);
  };
  const std::string ordinary = text_of(100), is_long = text_of(200), parts = text_of(1200);
  EXPECT_EQ(ordinary.find("\ni32"), std::string::npos);
  EXPECT_EQ(is_long.find("const"), std::string::npos);
  EXPECT_EQ(is_long.find("noinline"), std::string::npos);
  EXPECT_EQ(parts.find("const i32"), std::string::npos);
  EXPECT_NE(parts.find("const auto part2 = [&]() __attribute__((noinline)) {\n"),
            std::string::npos);
  EXPECT_EQ(parts.find("part3"), std::string::npos);
}

TEST(Emit, ManyHeavyFunctionsAreCalledNotInlined) {
  std::string formula = "y = x_f32";
  for (int i = 0; i < 200; ++i) formula += " + tan(x_f32 * " + std::to_string(i) + ".5)";
  const Program program = compile_formula(formula, scope_for(formula, f32));
  EXPECT_NE(emit_cuda(program).find("= outlined_tan_f32(v"), std::string::npos);
  EXPECT_EQ(emit_cuda(program).find("math::tan("), std::string::npos);
  EXPECT_EQ(emit_cuda_functions(program),
            "__device__ __noinline__ float outlined_tan_f32(float a) { return math::tan(a); }\n");
  const Program few = compile_formula("y = tan(x_f32)", scope_for("y = tan(x_f32)", f32));
  EXPECT_EQ(emit_cuda_functions(few), "");
}

TEST(Emit, EveryOpHasItsOwnName) {
  std::set<std::string_view> names;
  for (int op = 0; op <= static_cast<int>(Op::clamp); ++op)
    names.insert(to_string(static_cast<Op>(op)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(Op::clamp) + 1);
  EXPECT_EQ(to_string(Op::constant), "constant");
  EXPECT_EQ(to_string(Op::logical_and), "logical_and");
  EXPECT_EQ(to_string(Op::where), "where");
  EXPECT_EQ(to_string(Op::clamp), "clamp");
}

}  // namespace
}  // namespace tilejit::expr
