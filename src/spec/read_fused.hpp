#pragma once

#include <string>

#include "spec/json_text.hpp"
#include "spec/problems.hpp"
#include "tilejit/fused.hpp"

namespace tilejit::spec {

/// Reads the members of one descriptor; faults go to `problems` with JSON pointers below `where`.
[[nodiscard]] Fused read_fused(const Json& json, const std::string& where, Problems& problems);

}  // namespace tilejit::spec
