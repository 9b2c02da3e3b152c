#pragma once

#include "expr/tree.hpp"
#include "formula/analysis.hpp"
#include "formula/spaces.hpp"

namespace tilejit::formula {

/// Fills in what an analysis has of a formula with several spaces; the symbols are known. Throws
/// Error.
void make_steps(const Fused& op, expr::Tree& tree, Analysis& analysis);

/// The analysis of one step in the space of `shape`. In a product step, tensors 0 and 1 are its
/// operands. Throws Error for outputs that do not have the shape of their values, or whose elements
/// overlap.
[[nodiscard]] Analysis analyze_step(const Fused& op, expr::Program program, const Extents& shape);

}  // namespace tilejit::formula
