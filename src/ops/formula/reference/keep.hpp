#pragma once

#include "reference/block.hpp"
#include "reference/problem.hpp"
#include "reference/results.hpp"
#include "reference/schedule.hpp"

namespace tilejit::reference {

/// Room for the values of a tensor of `elements` elements.
[[nodiscard]] KeptValues make_kept(DType dtype, std::int64_t elements, WithBounds with_bounds);

/// Writes what `store` stores, after the block's last run, to TensorView::keeps: rounded as the
/// store rounds, but values of f32 stay as they were computed, in double.
void keep(const Problem& problem, const Block& block, const expr::Store& store);
/// Does the stores to tensors that have TensorView::keeps, and no others.
void keep(const Problem& problem, const Schedule& schedule, const Results& results,
          WithBounds with_bounds);

}  // namespace tilejit::reference
