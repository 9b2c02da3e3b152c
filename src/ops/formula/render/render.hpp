#pragma once

#include <string>
#include <string_view>

#include "operation/source.hpp"
#include "plan/plan.hpp"

namespace tilejit::render {

/// Throws Error{unsupported} for more than the compiler is done with in seconds (Budget).
[[nodiscard]] operation::Source render(const plan::Plan& plan);
/// The generated header alone.
[[nodiscard]] std::string render_header(const plan::Plan& plan);

/// SHA-256 (hex) over everything that decides what is generated: template texts and the sources of
/// the rooms that plan and render. Taken by the build; a part of every key.
[[nodiscard]] std::string_view generator_digest() noexcept;

}  // namespace tilejit::render
