#pragma once

#include <string>

#include "plan/plan.hpp"
#include "render/budget.hpp"

namespace tilejit::render {

/// `plan.cuh`, by the writer of the plan's family; of several kernels, theirs one behind the other.
/// Throws Error{unsupported} beyond the budget.
[[nodiscard]] std::string write_header(const plan::Plan& plan, Budget& budget);

}  // namespace tilejit::render
