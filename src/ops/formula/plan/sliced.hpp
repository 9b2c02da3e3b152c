#pragma once

#include <optional>
#include <vector>

#include "formula/analysis.hpp"
#include "plan/plan.hpp"

namespace tilejit::plan {

/// A plan of one part for short rows whose outputs lie in another order than what is reduced, so
/// that each warp of `plan`, the plan of the whole operation, accesses parts of sectors: an
/// elementwise formula of slices of inputs and outputs, which boxes reorder. Nothing if that is no
/// faster. Adds the part's analysis to `of_parts` unless it is null.
[[nodiscard]] std::optional<Plan> plan_sliced(const Fused& op, const formula::Analysis& analysis,
                                              const Plan& plan,
                                              std::vector<formula::Analysis>* of_parts);

}  // namespace tilejit::plan
