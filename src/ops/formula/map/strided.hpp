#pragma once

#include "plan/plan.hpp"

namespace tilejit::plan {

/// Gives a map that reads or writes an operand with gaps shorter vectors, where a multiprocessor
/// then takes fewer cycles: each element of a vector is a request of its own there, which touches
/// the more lines the further the vectors of a warp are apart. `plan` is that of a map whose launch
/// is chosen.
void suit_strided(Plan& plan);

/// Cycles of a multiprocessor per element in which memory moves what the plan reads and writes:
/// whole sectors where elements are apart, except in boxes, and nothing of inputs that repeat.
/// Strides are known.
[[nodiscard]] double cycles_of_memory(const Plan& plan);

}  // namespace tilejit::plan
