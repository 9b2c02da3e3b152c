#pragma once

#include "reference/problem.hpp"
#include "reference/results.hpp"

namespace tilejit::reference {

/// The result of the problem's product as `multiply` gives it, whole, with the sums of
/// `problem.product->multiply`. Each of them is checked here: the sum of every row with random
/// signs, and an element of every row. Throws Error{invalid_argument} if they are wrong.
[[nodiscard]] Result multiply_elsewhere(const Problem& problem, WithBounds with_bounds);

}  // namespace tilejit::reference
