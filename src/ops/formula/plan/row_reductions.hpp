#pragma once

#include "plan/step_list.hpp"
#include "tilejit/fused.hpp"
#include "tilejit/target.hpp"

namespace tilejit::plan {

/// `steps`, in which a product reduces along N itself what a later step would reduce of it, as in
/// `max(x @ w)` or `y = gelu(x @ w); s = sum(y * y)`, if the target has a kernel for that which
/// takes less time. The product step (formula::Product::reductions) then leaves one partial result
/// for each row and tile, in tensors from number `first` on, and writes the outputs that are not
/// reduced. The other outputs come from a step that reduces the partial results, in the order of
/// the tiles. Reductions are sums, products and extrema in f32 of what is no reduction itself.
[[nodiscard]] StepList with_row_reductions(const Fused& op, const Target& target,
                                           std::vector<formula::Step> steps, int first);

}  // namespace tilejit::plan
