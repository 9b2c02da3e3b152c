#pragma once

#include "plan/plan.hpp"

namespace tilejit::plan {

/// Columns in a sector of the narrowest output.
[[nodiscard]] int columns_of_sector(const Plan& plan);

}  // namespace tilejit::plan
