#pragma once

#include <optional>

#include "formula/analysis.hpp"
#include "plan/plan.hpp"
#include "tilejit/fused.hpp"

namespace tilejit::plan {

/// The plan of a map whose vectors go on from one row to the next (Map::flat), if these are wider
/// and take fewer cycles of the L1 cache; else nothing. Inputs that do not go on, such as a column
/// that rows repeat, are then read element by element, and so are large inputs with gaps where all
/// elements are narrow. `plan` is that of a map whose launch is chosen.
[[nodiscard]] std::optional<Plan> flattened(const Fused& op, const formula::Analysis& analysis,
                                            const Plan& plan);

/// Cycles of a multiprocessor per element to issue the formula's instructions.
[[nodiscard]] double cycles_of_formula(const Plan& plan);

}  // namespace tilejit::plan
