#pragma once

#include <string>

#include "spec/json_text.hpp"
#include "spec/problems.hpp"
#include "tilejit/tuning.hpp"

namespace tilejit::spec {

/// The object "tuning" of a spec, its structure only. Faults go to `problems`, `where` in front.
[[nodiscard]] Tuning read_tuning(const Json& json, const std::string& where, Problems& problems);
/// The object "tv" of a spec.
[[nodiscard]] ThreadValueLayouts read_tv(const Json& json, const std::string& where,
                                         Problems& problems);
/// What `read_tuning` reads back to an equal value, Tuning::tv apart; an empty object for nothing
/// pinned.
[[nodiscard]] Json tuning_json(const Tuning& tuning);

/// Adds a fault for each value out of its range, and for layouts that are no thread-value layouts.
void check_tuning(const Tuning& tuning, Problems& problems);

}  // namespace tilejit::spec
