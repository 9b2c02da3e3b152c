#pragma once

#include <cstddef>
#include <vector>

#include "plan/iteration.hpp"
#include "plan/plan.hpp"

namespace tilejit::plan {

/// How many of the first modes sheared tiles would have as one whose rows are whole vectors. The
/// outputs, and inputs that lie in their order, go on from one of these modes to the next. 1 if
/// the plan has no sheared tiles, or no such modes.
[[nodiscard]] std::size_t modes_to_merge(const Plan& plan);

/// Makes one mode of the first `count` ones. Operands that do not go on have several leaves in it.
void merge_first(std::vector<IterationMode>& modes, std::size_t count);

/// Whether tiles access all operands by aligned vectors, of 8 bytes or more of the output.
[[nodiscard]] bool has_whole_vectors(const Plan& plan);

}  // namespace tilejit::plan
