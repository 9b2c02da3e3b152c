#pragma once

#include <vector>

#include "formula/analysis.hpp"
#include "tilejit/fused.hpp"
#include "tilejit/target.hpp"

namespace tilejit::plan {

/// `steps`, in which a product computes itself what its epilogue reads of the rows of its left
/// operand, as `rsqrt(mean(x * x) + eps)` in `(x * rsqrt(mean(x * x) + eps)) @ w`, if the target
/// has a kernel for that which takes less time. The reduction is then in the product step
/// (formula::Product::statistic), and the step that would have left it in memory is left out. If
/// several products read it, each computes it, or none.
[[nodiscard]] std::vector<formula::Step> with_statistics(const Fused& op, const Target& target,
                                                         std::vector<formula::Step> steps);

}  // namespace tilejit::plan
