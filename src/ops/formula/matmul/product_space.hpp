#pragma once

#include <cstddef>

#include "plan/plan.hpp"

namespace tilejit::plan {

/// Sets the extents, operands and places of the plan of a product step (formula/product.hpp): the
/// axis of vectors, the other one of the result's matrices, then batches, from the last to the
/// first. Vectors lie along N, or along M if the first output, which is tensor `leader`, is
/// contiguous there; returns whether they lie along M.
[[nodiscard]] bool set_space_of_product(const Fused& op, const formula::Analysis& analysis,
                                        std::size_t leader, Plan& plan);

}  // namespace tilejit::plan
