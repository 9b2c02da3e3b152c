#include "expr/least.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "expr_support.hpp"

namespace tilejit::expr {
namespace {

/// The bound of what is stored.
double least_of(const std::string& formula, DType type = f32) {
  const Program program = compile_formula(formula, scope_for(formula, type));
  return least_values(program)[static_cast<std::size_t>(program.stores.front().value)];
}

TEST(Least, FollowsFromTheFormula) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  struct Case {
    const char* value;
    double least;
  };
  constexpr Case kCases[] = {
      {"x_f32", kNone},
      {"abs(x_f32)", 0},
      {"abs(x_f32) + 1", 1},
      {"1 + exp(-x_f32)", 1},
      {"abs(x_f32) - 1", kNone},
      {"x_f32 * x_f32 + 2", 2},
      {"x_f32 * 2 + 2", kNone},
      {"sqrt(x_f32) + sigmoid(x_f32)", 0},
      {"max(x_f32, 3.0)", 3},  // also of nan, which is ignored
      {"max(3.0, x_f32)", 3},
      {"max(abs(x_f32) + 1, x_f32)", kNone},  // a nan on the left leaves the right
      {"max(abs(x_f32) + 1, abs(x_f32))", 0},
      {"min(abs(x_f32) + 1, 5.0)", 1},
      {"where(x_bool, abs(x_f32) + 1, 4.0)", 1},
      {"where(x_bool, abs(x_f32) + 1, x_f32)", kNone},
      {"f32(abs(x_f16) + 1)", 1},
      {"f32(abs(x_f16) + 0.75)", 0.5},  // a power of two, which rounding to f16 keeps
      {"f32(abs(x_f16) + 1e-10)", 0},   // f16 has no such number
      {"f32(f16(abs(x_f32) + 1e-10))", 0},
      {"f32(abs(x_i32)) + 1", kNone},  // the smallest whole number has no positive one
      {"sum(abs(x_f32)) + 1", 1},
      {"sum(x_f32) + 1", kNone},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(least_of("y = " + std::string(c.value)), c.least) << c.value;
  }
}

}  // namespace
}  // namespace tilejit::expr
