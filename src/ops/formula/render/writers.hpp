#pragma once

#include <string>

#include "plan/plan.hpp"
#include "render/budget.hpp"

namespace tilejit::render {

/// `plan.cuh` by the writer of the plan's family. If there are several kernels, their headers
/// follow each other. Throws Error{unsupported} beyond the budget.
[[nodiscard]] std::string write_header(const plan::Plan& plan, Budget& budget);

}  // namespace tilejit::render
