#pragma once

#include <string>

#include "render/budget.hpp"
#include "render/render.hpp"

namespace tilejit::render {

/// The source of a plan of one kernel.
[[nodiscard]] operation::Source render_kernel(const plan::Plan& plan, Budget& budget);
/// The source of a plan of several kernels (plan::Several). The headers that parts share come
/// first; each part's template and header follow in a namespace of their own. Both functions throw
/// Error{unsupported} beyond the budget.
[[nodiscard]] operation::Source render_parts(const plan::Plan& plan, Budget& budget);

}  // namespace tilejit::render
