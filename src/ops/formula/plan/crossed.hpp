#pragma once

#include <optional>
#include <vector>

#include "formula/analysis.hpp"
#include "plan/plan.hpp"

namespace tilejit::plan {

/// Sectors that lanes store here and there, because `operand`, an output with one element per row,
/// lies in another order than the rows of a warp; each as often as a part of it is stored. 0 if
/// sizes are unknown.
[[nodiscard]] double scattered_stores(const Plan& plan, const Operand& operand);

/// A plan of parts for results of rows that lie in another order than what `plan`, the plan of the
/// whole operation, reduces, so that lanes would store a sector each. Of short rows one part, an
/// elementwise formula of slices, which tiles and boxes transpose; else a part that leaves results
/// in the order of the rows, and copies. Nothing if that saves less than it takes. Adds the parts'
/// analyses to `of_parts` unless it is null.
[[nodiscard]] std::optional<Plan> plan_crossed(const Fused& op, const formula::Analysis& analysis,
                                               const Plan& plan,
                                               std::vector<formula::Analysis>* of_parts);

}  // namespace tilejit::plan
