#include "support/long_formulas.hpp"

#include <algorithm>
#include <utility>

namespace tilejit::test {
namespace {

constexpr int kTimes = 32;  // steps per statement, so that the text stays short

Tensor matrix(const std::string& name, DType dtype) {
  return {.name = name, .dtype = dtype, .layout = parse_layout("(6,40):(40,1)")};
}

struct Chain {
  const char* name;
  DType dtype;
  const char* step;  // of a
  int operations;    // per step
};

constexpr Chain kChains[] = {
    {"sums of i8", i8, "a * 3 + 1", 2},
    {"sums of i32", i32, "a * 3 + 1", 2},
    {"sums of i64", i64, "a * 3 + 1", 2},
    {"bits of i32", i32, "(a ^ (a << 3)) + (a >> 5)", 4},
    {"extrema of i32", i32, "max(min(a * 3, 100), a - 5)", 4},
    {"choices of i64", i64, "where(a > 3, a - 3, a * 5)", 4},
    {"casts of i32", i32, "i32(i8(a)) + i32(i16(a)) * 3", 6},
    {"sums of f32", f32, "a * 0.5 + 1", 2},
    {"extrema of f32", f32, "max(min(a + 3, 100), a - 5)", 4},
    {"floats and integers", f32, "f32(i32(a) & 7) * 0.5 + a * 0.25", 6},
};

/// Statements that apply `step` to "t" `count` times, first to "x". The last value is t.
std::string steps(int count) {
  std::string text = "t0 = x\n";
  int statements = 0;
  for (int left = count; left > 0; left -= kTimes, ++statements) {
    const std::string value = "t" + std::to_string(statements);
    text += "t" + std::to_string(statements + 1) + " = " +
            (left >= kTimes ? "often(" + value + ")" : "step(" + value + ")") + "\n";
  }
  return text + "t = t" + std::to_string(statements) + "\n";
}

Fused chain(const Chain& c, int operations, const std::string& end) {
  std::string often = "a";
  for (int i = 0; i < kTimes; ++i) often = "step(" + often + ")";
  return {.name = "long",
          .tensors = {matrix("x", c.dtype), matrix("y", c.dtype)},
          .functions = {{"step", {"a"}, c.step}, {"often", {"a"}, often}},
          .formula = steps(operations / c.operations) + end};
}

/// All values are read after all have been computed, the first one last.
Fused long_lives(int operations) {
  const int count = std::min(operations / 3, 1200);
  std::string formula = "t0 = x\n";
  for (int i = 1; i < count; ++i) {
    formula += "t" + std::to_string(i) + " = t" + std::to_string(i - 1) + " * 3 + 1\n";
  }
  formula += "s" + std::to_string(count) + " = x\n";
  for (int i = count; i-- > 0;) {
    formula += "s" + std::to_string(i) + " = s" + std::to_string(i + 1) + " ^ t" +
               std::to_string(i) + "\n";
  }
  return {.name = "long",
          .tensors = {matrix("x", i32), matrix("y", i32)},
          .formula = formula + "y = s0"};
}

}  // namespace

std::vector<LongFormula> long_formulas(int operations) {
  std::vector<LongFormula> formulas;
  for (const Chain& c : kChains) formulas.push_back({c.name, chain(c, operations, "y = t")});
  constexpr Chain kFloat = {"", f32, "max(min(a + 3, 100), a - 5)", 4};
  constexpr Chain kInteger = {"", i32, "max(min(a * 3, 100), a - 5)", 4};
  formulas.push_back({"values that live long", long_lives(operations)});
  // Each pass computes the chain again.
  formulas.push_back({"two passes over a row", chain(kFloat, operations / 2, "y = t - max(t)")});
  formulas.push_back({"a result for elements",
                      chain(kInteger, operations / 2, "y = x + max(t) * 3 - min(t + max(t))")});
  formulas.push_back({"a scan", chain(kInteger, operations / 2, "y = cumsum(t)")});
  formulas.push_back(
      {"two kernels", chain(kFloat, operations / 2, "y = max(t, axis=1) + min(t, axis=0)")});
  return formulas;
}

}  // namespace tilejit::test
