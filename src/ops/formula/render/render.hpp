#pragma once

#include <string>
#include <string_view>

#include "operation/source.hpp"
#include "plan/plan.hpp"

namespace tilejit::render {

/// The source of the plan's kernels. Throws Error{unsupported} if they are more than the compiler
/// can handle in seconds (Budget).
[[nodiscard]] operation::Source render(const plan::Plan& plan);
/// Only the generated header.
[[nodiscard]] std::string render_header(const plan::Plan& plan);

/// SHA-256 (hex) of everything that decides what is generated: template texts and the sources of
/// the rooms that plan and render. The build computes it, and every key contains it.
[[nodiscard]] std::string_view generator_digest() noexcept;

}  // namespace tilejit::render
