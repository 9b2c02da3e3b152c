#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "formula/analysis.hpp"

namespace tilejit::formula {

/// A condition on which the weight of a key depends: where it is not as it should be, the score is
/// -infinity. It does not depend on products.
struct ScoreMask {
  expr::NodeId condition = expr::kNoNode;
  bool keeps = true;  ///< keys remain where the condition holds; else where it does not
  bool operator==(const ScoreMask&) const = default;
};

/// Three steps that are softmax(score(q @ k)) @ v: a product, its weights, and the product of these
/// with v. The score of each key is `score * scale`, or `score / scale`, unless a mask excludes it,
/// and its weight is e / sum(e) of e = exp(score - maximum), or of exp2. Instead of the sum there
/// may be a value of the row that is made of it, such as sum(e) + exp(sink - maximum). Other stores
/// of the step `weights` are values of rows, too.
struct Attention {
  std::size_t scores = 0, weights = 0, values = 0;  ///< the steps, by number
  std::optional<std::size_t> rows = {};             ///< a further one, with values of rows
  int products = -1;  ///< the tensor of the step `weights` that has the sums of q @ k
  int result = -1;    ///< that which has the weights
  // Nodes of the program of the step `weights`:
  expr::NodeId weight = expr::kNoNode;    ///< e / divisor, before casts
  expr::NodeId term = expr::kNoNode;      ///< e
  expr::NodeId sum = expr::kNoNode;       ///< sum(e)
  expr::NodeId divisor = expr::kNoNode;   ///< sum(e), or of it, the maximum and values of the row
  expr::NodeId exponent = expr::kNoNode;  ///< of e, before the maximum is subtracted
  expr::NodeId score = expr::kNoNode;     ///< without masks and scale
  expr::NodeId scale = expr::kNoNode;     ///< alike for all elements; kNoNode: 1
  bool divides = false;                   ///< by the scale
  std::vector<ScoreMask> masks = {};
  bool base_two = false;
  bool operator==(const Attention&) const = default;
};

/// What the product step `values` computes, or why it is no attention; empty if nothing about its
/// operands looks like it.
struct AttentionSearch {
  std::optional<Attention> found = {};
  Step weights = {};  ///< the step of that name, with what the step `rows` stores
  std::string why_not = {};
};
[[nodiscard]] AttentionSearch find_attention(const Analysis& analysis, std::size_t values);

/// For each node of a program whether its value is the same for all elements: made of constants,
/// scalars and extents.
[[nodiscard]] std::vector<bool> uniform_nodes(const expr::Program& program);

}  // namespace tilejit::formula
