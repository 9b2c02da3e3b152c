#pragma once

#include "plan/plan.hpp"

namespace tilejit::plan {

/// Gives rows that are peeled and that a block holds shorter vectors if steps of their threads then
/// have fewer elements that do not exist. Weights would be shifted twice as often.
void fill_steps(Plan& plan);

}  // namespace tilejit::plan
