#include "expr/greatest.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "expr_support.hpp"

namespace tilejit::expr {
namespace {

/// The bound of what is stored.
double greatest_of(const std::string& formula, DType type = f32) {
  const Program program = compile_formula(formula, scope_for(formula, type));
  return greatest_magnitudes(program)[static_cast<std::size_t>(program.stores.front().value)];
}

TEST(Greatest, FollowsFromTheFormula) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  struct Case {
    const char* value;
    double greatest;
  };
  const Case kCases[] = {
      {"x_f32", kNone},
      {"x_bf16", kNone},
      {"x_f16", 65504},
      {"f32(x_u8)", 255},
      {"f32(x_i8)", 128},
      {"f32(x_i32)", kNone},
      {"-x_f16 + 2", 65506},
      {"x_f16 * x_f16 - 1", 65504.0 * 65504 - 0 - 1},
      {"sin(x_f32) * 3 - 1", 4},
      {"abs(sigmoid(x_f32) - 2)", 2},
      {"relu(-sigmoid(x_f32))", 0},
      {"clamp(x_f32, -2, 5)", 5},
      {"clamp(x_f32, 0, x_f32)", kNone},
      {"min(max(x_f32, -4.0), 3.0)", 4},
      {"max(-8.0, min(x_f32, 3.0))", 8},
      {"min(x_f16, 70000.0)", 70000},  // the least one of infinity and this
      {"min(abs(x_f32), sigmoid(x_f32))", kNone},
      {"exp(sigmoid(x_f32))", std::exp(1.0)},
      {"exp(-abs(x_f32))", 1},
      {"rsqrt(x_f32 * x_f32 + 0.25)", 2},
      {"rsqrt(abs(x_f32))", kNone},
      {"sqrt(sin(x_f32) + 3)", 2},
      {"sigmoid(x_f32) / (abs(x_f32) + 0.5)", 2},
      {"x_f32 / (abs(x_f32) + 1)", kNone},  // infinity by infinity is none, but what is near is
      {"sigmoid(x_f32) / x_f32", kNone},
      {"log(x_f32)", 150},
      {"where(x_bool, sigmoid(x_f32), 4.0)", 4},
      {"where(x_bool, sigmoid(x_f32), -inf)", kNone},
      {"f32(bf16(sigmoid(x_f32) * 5))", 8},
      {"f32(f16(sigmoid(x_f32) * 0))", 0},
      {"max(sin(x_f32))", 1},
      {"sum(sin(x_f32))", kNone},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(greatest_of("y = " + std::string(c.value)), c.greatest) << c.value;
  }
}

}  // namespace
}  // namespace tilejit::expr
