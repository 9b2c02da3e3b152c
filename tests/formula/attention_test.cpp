// Which formulas are attention: two products with a softmax between them.
#include <gtest/gtest.h>

#include <cctype>
#include <string>

#include "formula/attention.hpp"
#include "support/tensor_list.hpp"

namespace tilejit::formula {
namespace {

/// The operation over those of the tensors that the formula names.
Fused operation(const char* formula) {
  const std::string text = std::string(" ") + formula + " ";
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  std::string tensors;
  for (const std::string tensor :
       {"q (M,K)", "k (N,K)", "v (N,L)", "b (M,N)", "z (M,N)", "y (M,L)", "r (M,1)"}) {
    bool is_named = false;
    for (std::size_t at = 0; (at = text.find(tensor[0], at + 1)) != std::string::npos;)
      is_named = is_named || (!is_part(text[at - 1]) && !is_part(text[at + 1]));
    if (is_named) tensors += (tensors.empty() ? "" : "; ") + tensor;
  }
  return test::operation(tensors, formula);
}

/// "2 masks, scaled, base 2", or why not; "" if nothing looks like it.
std::string found_in(const Fused& op) {
  const Analysis analysis = analyze(op);
  for (std::size_t s = 0; s < analysis.steps.size(); ++s) {
    const AttentionSearch search = find_attention(analysis, s);
    if (!search.why_not.empty()) return search.why_not;
    if (!search.found) continue;
    const Attention& found = *search.found;
    EXPECT_EQ(found.values, s);
    EXPECT_LT(found.scores, found.weights);
    std::string text = std::to_string(found.masks.size()) + " masks";
    for (const ScoreMask& mask : found.masks) text += mask.keeps ? "" : ", one of what to drop";
    if (found.scale != expr::kNoNode) text += found.divides ? ", divided" : ", scaled";
    return text + (found.base_two ? ", base 2" : "");
  }
  return "";
}

struct Spelling {
  const char* formula;
  const char* found;
};

TEST(Attention, IsFoundInItsSpellings) {
  const Spelling rows[] = {
      {"s = q @ k.T; e = exp(s - max(s)); y = (e / sum(e)) @ v", "0 masks"},
      {"s = q @ k.T; e = exp(s - max(s)); y = (e * (1 / sum(e))) @ v", "0 masks"},
      {"s = (q @ k.T) * 0.125; e = exp(s - max(s)); y = (e / sum(e)) @ v", "0 masks, scaled"},
      {"s = 0.125 * (q @ k.T); e = exp(s - max(s)); y = (e / sum(e)) @ v", "0 masks, scaled"},
      {"s = (q @ k.T) / sqrt(f32(extent(-1))); e = exp2(s - max(s)); y = (e / sum(e)) @ v",
       "0 masks, divided, base 2"},
      {"e = exp(q @ k.T); y = (e / sum(e)) @ v", "0 masks"},
      {"s = q @ k.T; m = max(s); e = exp(s - where(m > -inf, m, 0)); y = (e / sum(e)) @ v",
       "0 masks"},
      {"s = where(iota(-1) <= iota(-2), (q @ k.T) * 0.1, -inf); e = exp(s - max(s)); y = bf16(e / "
       "sum(e)) @ bf16(v)",
       "1 masks, scaled"},
      {"s = q @ k.T; e = exp(s - max(s)); y = bf16(f32(e / sum(e))) @ bf16(v)", "0 masks"},
      {"s = where(iota(-1) > iota(-2), -inf, q @ k.T); e = exp(s - max(s)); y = (e / sum(e)) @ v",
       "1 masks, one of what to drop"},
      {"s = where(iota(-1) < 9, where(iota(-1) <= iota(-2), q @ k.T, -inf), -inf); e = exp(s - "
       "max(s)); y = (e / sum(e)) @ v",
       "2 masks"},
      {"s = 50 * tanh((q @ k.T) / 50) + b; e = exp(s - max(s)); y = (e / sum(e)) @ v * 2",
       "0 masks"},
      {"s = q @ k.T; m = max(s); e = exp(s - m); y = (e / (sum(e) + exp(0.5 - m))) @ v", "0 masks"},
      {"s = q @ k.T; m = max(s); e = exp(s - where(m > -inf, m, 0)); y = (e / max(sum(e), 1e-30)) "
       "@ v",
       "0 masks"},
      {"s = q @ k.T; m = max(s); e = exp(s - m); y = (e / sum(e)) @ v; r = m + log(sum(e))",
       "0 masks"},
      {"s = where(q @ k.T > 0, 1, -inf); e = exp(s - max(s)); y = (e / sum(e)) @ v", "0 masks"},
  };
  for (const Spelling& row : rows) {
    EXPECT_EQ(found_in(operation(row.formula)), row.found) << row.formula;
  }
}

TEST(Attention, IsNotFoundInOthers) {
  const Spelling rows[] = {
      {"y = (q @ k.T) @ v", ""},
      {"s = q @ k.T; y = (s / sum(s)) @ v",
       "the weights are not exponentials divided by their sum"},
      {"s = q @ k.T; e = exp(s - max(s)); y = e @ v",
       "the weights are not exponentials divided by their sum"},
      {"s = q @ k.T; e = exp(s - max(s)); y = bf16(i32(e / sum(e))) @ bf16(v)",
       "the weights are not exponentials divided by their sum"},
      {"s = q @ k.T; e = exp(s - min(s)); y = (e / sum(e)) @ v", "a score depends on several keys"},
      {"s = q @ k.T; e = exp(s - max(s)); y = (e / sum(e, axis=0)) @ v",
       "the sum of the exponentials is not over the keys"},
      {"s = q @ k.T; e = exp(s - max(s)); y = (e / (sum(e) + b)) @ v",
       "the weights are not exponentials divided by their sum"},
      {"e = exp(q @ k.T); y = (e / (sum(e) + 1)) @ v", "sums without a maximum have other uses"},
      {"s = q @ k.T; z = s + 1; e = exp(s - max(s)); y = (e / sum(e)) @ v",
       "the weights' step has an output that is not of the sums of rows"},
      {"e = exp(b - max(b)); y = (e / sum(e)) @ v",
       "the weights are not made of one product that nothing else reads"},
  };
  for (const Spelling& row : rows) {
    EXPECT_EQ(found_in(operation(row.formula)), row.found) << row.formula;
  }
}

TEST(Attention, KnowsTheScoreWithoutMaskAndScale) {
  const Analysis analysis = analyze(test::operation(
      "q (B,M,K); k (B,N,K); v (B,N,L); y (B,M,L)",
      "s = where(iota(-1) <= iota(-2), (q @ k.T) * 0.25, -inf); e = exp(s - max(s)); y = (e / "
      "sum(e)) @ v"));
  ASSERT_EQ(analysis.steps.size(), 3U);
  const AttentionSearch search = find_attention(analysis, 2);
  ASSERT_TRUE(search.found) << search.why_not;
  const auto& nodes = analysis.steps[search.found->weights].analysis.program.nodes;
  const auto at = [&](expr::NodeId id) { return nodes[static_cast<std::size_t>(id)]; };
  EXPECT_EQ(at(search.found->score).op, expr::Op::load);
  EXPECT_EQ(at(search.found->score).source, search.found->products);
  EXPECT_EQ(at(search.found->scale).op, expr::Op::constant);
  ASSERT_EQ(search.found->masks.size(), 1U);
  EXPECT_EQ(at(search.found->masks[0].condition).op, expr::Op::le);
}

}  // namespace
}  // namespace tilejit::formula
