#pragma once

#include <optional>

#include "plan/plan.hpp"
#include "plan/split.hpp"

namespace tilejit::plan {

/// One part in which reductions over a few elements are chains of operations on slices of their
/// inputs, if what remains is one kernel; nothing otherwise.
[[nodiscard]] std::optional<Split> unroll_reductions(const Fused& op,
                                                     const formula::Analysis& analysis);

/// The same, such as for the logsumexp of a loss over four classes, if the operation is so small
/// that a kernel more is most of its time.
[[nodiscard]] std::optional<Split> unroll_short_reductions(const Fused& op,
                                                           const formula::Analysis& analysis);

}  // namespace tilejit::plan
