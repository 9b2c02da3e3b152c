// Between which numbers the scores of attentions lie, whatever the values of tensors and scalars.
#include "attention/score_bound.hpp"

#include <gtest/gtest.h>

#include "attention/family.hpp"
#include "plans.hpp"

namespace tilejit::plan {
namespace {

/// Of the score before its scale.
std::optional<Bound> bound_of_score(const std::string& score) {
  const Fused op{.tensors = {{"q", bf16, "(256,64)"},
                             {"k", bf16, "(256,64)"},
                             {"v", bf16, "(256,64)"},
                             {"bias", f32, "(256,1)"},
                             {"y", bf16, "(256,64)"}},
                 .scalars = {{"cap", f32}},
                 .formula = "s = q @ k.T; t = " + score +
                            "; e = exp(t - max(t)); y = bf16(e / sum(e)) @ v * cap + bias"};
  const Plan plan = plan_of(op, parse_target("sm_90a"));
  const Weights* const weights = weights_of(parts_of(plan).front());
  if (weights == nullptr) throw std::runtime_error("no attention: " + score);
  return bound_of(weights->scores.program, weights->scores.attention.score);
}

TEST(ScoreBound, IsThatOfTheFormula) {
  struct Case {
    const char* score;
    double least, greatest;
  };
  constexpr Case kCases[] = {
      {"tanh(s)", -1, 1},
      {"cap * tanh(s / cap)", -1, 1},  // without the scale
      {"where(iota(-1) <= iota(-2), cap * tanh(s / cap), -inf)", -1, 1},
      {"sigmoid(s) - 2 * sin(s)", -2, 3},
      {"-erf(s) * cos(s)", -1, 1},
      {"clamp(s, -30, 20)", -30, 20},
      {"max(min(s, 20), -30)", -30, 20},
      {"where(s > 0, 4.0, 2.0) * tanh(s)", -4, 4},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.score);
    const auto bound = bound_of_score(c.score);
    ASSERT_TRUE(bound.has_value());
    EXPECT_EQ(bound->least, c.least);
    EXPECT_EQ(bound->greatest, c.greatest);
  }
}

TEST(ScoreBound, IsNoneOfOtherFormulas) {
  for (const char* const score :
       {"s", "s + tanh(s)", "min(s, 20)", "max(s, -20)", "tanh(s) + cap", "tanh(s) + bias",
        "s * tanh(s)", "clamp(s, -cap, cap)", "s - s"}) {
    EXPECT_FALSE(bound_of_score(score).has_value()) << score;
  }
}

/// min and max leave out what is not a number.
TEST(ScoreBound, HoldsIfAnOperandIsNotANumber) {
  EXPECT_FALSE(bound_of_score("min(tanh(s), s)").has_value());
  EXPECT_FALSE(bound_of_score("max(tanh(s), bias)").has_value());
}

}  // namespace
}  // namespace tilejit::plan
