#pragma once

#include <string>

#include "render/budget.hpp"
#include "render/render.hpp"

namespace tilejit::render {

/// The source of a plan of one kernel.
[[nodiscard]] operation::Source render_kernel(const plan::Plan& plan, Budget& budget);
/// The source of a plan of several kernels (plan::Several): each stage's template and header in a
/// namespace of its own, behind the headers that they share. Both throw Error{unsupported} beyond
/// the budget.
[[nodiscard]] operation::Source render_stages(const plan::Plan& plan, Budget& budget);

}  // namespace tilejit::render
