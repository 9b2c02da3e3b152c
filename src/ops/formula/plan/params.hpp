#pragma once

#include <vector>

#include "formula/analysis.hpp"
#include "plan/plan.hpp"

namespace tilejit::plan {

/// The fields that a kernel of `plan`, which is complete but for them, is passed: at least one.
[[nodiscard]] std::vector<Param> params_of(const Fused& op, const Plan& plan);
/// The same of a plan that consists of stages, which has its operands.
[[nodiscard]] std::vector<Param> params_of_outline(const Fused& op,
                                                   const formula::Analysis& analysis,
                                                   const Plan& plan);
/// The size of a struct of them.
[[nodiscard]] int bytes_of(const std::vector<Param>& params) noexcept;

}  // namespace tilejit::plan
