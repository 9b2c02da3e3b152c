#pragma once

#include <optional>

#include "plan/plan.hpp"
#include "plan/split.hpp"

namespace tilejit::plan {

/// Parts that first copy inputs which lie in another order than the rows of `plan`, the plan of the
/// whole operation, and repeat along an axis: lanes would ask for a line of memory each, again for
/// every row. Nothing if no copy saves more than it takes.
[[nodiscard]] std::optional<Split> split_after_copies(const Fused& op,
                                                      const formula::Analysis& analysis,
                                                      const Plan& plan);

}  // namespace tilejit::plan
