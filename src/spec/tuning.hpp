#pragma once

#include <string>

#include "spec/json_text.hpp"
#include "spec/problems.hpp"
#include "tilejit/tuning.hpp"

namespace tilejit::spec {

/// Reads the object "tuning" of a spec and checks its structure only. Faults go to `problems`, with
/// pointers below `where`.
[[nodiscard]] Tuning read_tuning(const Json& json, const std::string& where, Problems& problems);
/// The object "tv" of a spec.
[[nodiscard]] ThreadValueLayouts read_tv(const Json& json, const std::string& where,
                                         Problems& problems);
/// JSON that `read_tuning` reads back to an equal value, except for Tuning::tv. An empty object if
/// nothing is pinned.
[[nodiscard]] Json tuning_json(const Tuning& tuning);

/// Adds a fault for each value out of its range, and for layouts that are not thread-value layouts.
void check_tuning(const Tuning& tuning, Problems& problems);

}  // namespace tilejit::spec
