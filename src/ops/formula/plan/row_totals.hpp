#pragma once

#include <cstddef>

#include "plan/plan.hpp"
#include "plan/split.hpp"

namespace tilejit::plan {

/// Lets the blocks of `plan`, which is that of part `part`, combine what their rows have
/// (Operand::combined) if a later part does nothing else with a result of rows than reduce all of
/// it. The later part, which is not planned yet, and the temporary then have an element per block.
void leave_totals(Split& split, std::size_t part, std::size_t tensors, Plan& plan);

}  // namespace tilejit::plan
