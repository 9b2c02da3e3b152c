#pragma once

#include "reference/problem.hpp"
#include "reference/results.hpp"

namespace tilejit::reference {

/// The result of the problem's product. If `problem.product->sampled`, only all of some rows and
/// columns, and an element in every block of 32 by 32, have values; the bounds of the others are
/// infinite. Uses all hardware threads.
///
/// Operands are rounded to their type. Sums are in double. The bounds cover sums of the product's
/// accumulator type in any order, also those of tensor cores, which truncate.
[[nodiscard]] Result multiply(const Problem& problem, WithBounds with_bounds);

}  // namespace tilejit::reference
