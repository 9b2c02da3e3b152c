#pragma once

#include <vector>

#include "formula/analysis.hpp"
#include "tilejit/fused.hpp"
#include "tilejit/target.hpp"

namespace tilejit::plan {

/// `steps`, in which one kernel computes two products with an operand in common, as in
/// `silu(x @ w1) * (x @ w3)`, if the target has a kernel for pairs that takes less time. The first
/// product's sums then do not go through memory: a pair (formula/product.hpp) is the step that
/// reads them, and the one that would have written them is left out. Both products have equal
/// shapes and types, and only the epilogue of the second one reads the first.
[[nodiscard]] std::vector<formula::Step> with_pairs(const Fused& op, const Target& target,
                                                    std::vector<formula::Step> steps);

}  // namespace tilejit::plan
