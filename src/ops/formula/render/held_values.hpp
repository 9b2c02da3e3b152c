#pragma once

#include "render/passes.hpp"

namespace tilejit::render {

/// Finds the values that threads hold (Passes::held): those that the compiler would compute again
/// in each pass, because they follow a branch or a condition, if they take many instructions.
void find_held(const plan::Plan& plan, Passes& passes);

/// Whether several passes, the one that stores included, need values that are computed of elements
/// alone: the compiler holds them if nothing is conditional. What needs an input that each pass
/// loads for itself is computed again anyway.
[[nodiscard]] bool shares_values(const plan::Plan& plan, const Passes& passes);

}  // namespace tilejit::render
