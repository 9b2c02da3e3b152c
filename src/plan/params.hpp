#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace tilejit::plan {

/// The fields that a kernel of `plan`, which is complete but for them, is passed: at least one.
[[nodiscard]] std::vector<Param> params_of(const Fused& op, const Plan& plan);

}  // namespace tilejit::plan
