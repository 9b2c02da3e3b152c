#pragma once

#include "plan/plan.hpp"

namespace tilejit::plan {

/// Plans a product step (formula/product.hpp) for `target`. Throws Error{invalid_spec} for tuning
/// that cannot be honoured.
[[nodiscard]] Plan plan_product(const Fused& op, const formula::Analysis& analysis,
                                const Target& target);

}  // namespace tilejit::plan
