#pragma once

#include "plan/plan.hpp"

namespace tilejit::plan {

/// Whether a light plan of the operation compiles faster than `full`, and one block does not take
/// too long for a row.
[[nodiscard]] bool has_light(const Plan& full);

/// Chooses threads, lanes and groups of `plan`, a Light that has its extents and vectors of one
/// element.
void choose_light_launch(Plan& plan);

/// How many elements a lane adds up before it adds their sum to its total; 0: all of its elements.
[[nodiscard]] int light_chain(const Plan& plan);

}  // namespace tilejit::plan
