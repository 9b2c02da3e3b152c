#pragma once

#include <optional>

#include "plan/plan.hpp"

namespace tilejit::plan {

/// Chooses where a transposed operand's elements lie in shared memory: in the order of the direct
/// walk, with as much padding behind each mode as bank conflicts ask for.
void choose_pitch(const Plan& plan, const Box& box, Transposed& transposed);

/// The same operand by aligned chunks of its runs, as they lie in memory, which takes small
/// elements fewer instructions; nothing if runs are short, or if a thread's elements do not lie
/// equally far behind the starts of their runs' chunks.
[[nodiscard]] std::optional<Transposed> copied_by_runs(const Plan& plan, const Box& box,
                                                       const Transposed& transposed);

}  // namespace tilejit::plan
