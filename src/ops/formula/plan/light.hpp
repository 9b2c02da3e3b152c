#pragma once

#include "plan/plan.hpp"

namespace tilejit::plan {

/// Whether a light plan of the operation costs the compiler less than `full`, and one block does
/// not take too long for a row.
[[nodiscard]] bool has_light(const Plan& full);

/// Threads, lanes and groups of `plan`, a Light that has its extents and vectors of one element.
void choose_light_launch(Plan& plan);

/// Of a lane's elements, those that it adds up by themselves; 0: all at once.
[[nodiscard]] int light_chain(const Plan& plan);

}  // namespace tilejit::plan
