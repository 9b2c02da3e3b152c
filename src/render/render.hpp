#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plan/plan.hpp"

namespace tilejit::render {

/// What NVRTC gets: the template's text and every header it may include, `plan.cuh` among them.
struct RenderedSource {
  std::string name;  ///< "<kernel_name>.cu"
  std::string text;
  std::vector<std::pair<std::string, std::string>> headers;
};

/// Throws Error{unsupported} for more than the compiler is done with in seconds (Budget).
[[nodiscard]] RenderedSource render(const plan::Plan& plan);
/// The generated header alone.
[[nodiscard]] std::string render_header(const plan::Plan& plan);
/// The same as one file with every include replaced by its text.
[[nodiscard]] std::string flatten(const RenderedSource& source);

/// SHA-256 (hex) over everything that decides what is generated: template texts and the sources of
/// the rooms that plan and render. Taken by the build; a part of every key.
[[nodiscard]] std::string_view generator_digest() noexcept;

}  // namespace tilejit::render
