#pragma once

#include <optional>
#include <string>

#include "tilejit/operation.hpp"
#include "tilejit/target.hpp"

namespace tilejit {

/// The source of the build that CompileEffort::tiered launches first, if its plan is another one
/// (docs/compiling.md): for rows, scans and tiles. As render_source.
[[nodiscard]] std::optional<std::string> render_light_source(const Operation& op,
                                                             const Target& target);

}  // namespace tilejit
