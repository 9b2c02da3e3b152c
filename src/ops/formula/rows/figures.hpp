#pragma once

#include "plan/plan.hpp"

namespace tilejit::figures {

/// Vectors of a row that each thread has at once.
[[nodiscard]] int steps_of_row(const plan::Plan& plan, const plan::Rows& rows);

}  // namespace tilejit::figures
