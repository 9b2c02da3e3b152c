#pragma once

#include <string>

#include "spec/json_text.hpp"
#include "spec/problems.hpp"
#include "tilejit/fused.hpp"

namespace tilejit::formula {

/// Reads the members of one descriptor. Faults go to `problems` with JSON pointers below `where`.
[[nodiscard]] Fused read_fused(const spec::Json& json, const std::string& where,
                               spec::Problems& problems);
/// What tilejit::to_json returns, on one line.
[[nodiscard]] std::string to_json(const Fused& op);

}  // namespace tilejit::formula
