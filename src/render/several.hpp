#pragma once

#include <string>

#include "render/render.hpp"

namespace tilejit::render {

/// The source of a plan of several kernels (Plan::stages): each stage's template and header in a
/// namespace of its own, behind the headers that they share.
[[nodiscard]] RenderedSource render_stages(const plan::Plan& plan);
/// The stages' headers one behind the other.
[[nodiscard]] std::string render_headers_of_stages(const plan::Plan& plan);

}  // namespace tilejit::render
