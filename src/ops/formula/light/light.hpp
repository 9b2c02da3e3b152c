#pragma once

#include "plan/plan.hpp"

namespace tilejit::plan {

/// Whether one block does not take too long for a row of `full`, the full plan that has `rows` or
/// `scan`.
[[nodiscard]] bool suits_light(const Plan& full, const Rows& rows);
[[nodiscard]] bool suits_light(const Plan& full, const Scan& scan);

/// Chooses the threads of a block and of a row for `plan`, a Light that has its extents and vectors
/// of one element.
void choose_light_launch(Plan& plan);

/// How many elements a thread adds up before it adds their sum to its total; 0: all of its
/// elements.
[[nodiscard]] int light_chain(const Plan& plan);

}  // namespace tilejit::plan
