#pragma once

#include <cstdint>

#include "plan/plan.hpp"

namespace tilejit::plan {

/// Elements of one thread, a power of two: every element repeats the formula in the kernel's
/// code, and a heavy formula does not wait for memory anyway.
[[nodiscard]] std::int64_t elements_within_budget(const Plan& plan);

/// Chooses the threads of `plan`, the vectors that each has in flight, and how they share rows.
/// `plan` has its family, extents, operands and vector. Throws Error{invalid_spec} for tuning that
/// cannot be honoured.
void choose_launch(Plan& plan, const Tuning& tuning);

}  // namespace tilejit::plan
