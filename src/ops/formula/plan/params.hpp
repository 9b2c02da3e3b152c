#pragma once

#include <vector>

#include "formula/analysis.hpp"
#include "plan/plan.hpp"

namespace tilejit::plan {

/// The fields of the parameter struct of `plan`'s kernel: at least one. `plan` is complete except
/// for its params.
[[nodiscard]] std::vector<Param> params_of(const Fused& op, const Plan& plan);
/// The same for a plan that consists of parts. `plan` has its operands.
[[nodiscard]] std::vector<Param> params_of_outline(const Fused& op,
                                                   const formula::Analysis& analysis,
                                                   const Plan& plan);

}  // namespace tilejit::plan
