#pragma once

#include <cstdint>
#include <vector>

#include "expr/program.hpp"
#include "plan/iteration.hpp"

namespace tilejit::plan {

/// Removes the modes along which no operand varies from those that are reduced, and returns how
/// often each element of the others is repeated along them. What is left is at least one mode.
[[nodiscard]] std::int64_t drop_repeated(std::vector<IterationMode>& reduced);

/// Whether reductions over elements that are repeated follow from those over one copy of each:
/// extremes do, and sums, but no products.
[[nodiscard]] bool can_drop_repeated(const expr::Program& program);
/// The program with `times` the sum for each sum.
[[nodiscard]] expr::Program scale_sums(const expr::Program& program, std::int64_t times);

}  // namespace tilejit::plan
