#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "formula/analysis.hpp"
#include "plan/plan.hpp"

namespace tilejit::knobs {

/// The class of the operation of which `plan` was made. No knobs may be pinned in `plan`.
[[nodiscard]] std::string class_of(const plan::Plan& plan);

/// The result of tilejit::tuning_candidates. `analysis` must be that of `op`.
[[nodiscard]] std::vector<Tuning> candidates(const Fused& op, const formula::Analysis& analysis,
                                             const Target& target, std::size_t budget);

}  // namespace tilejit::knobs
