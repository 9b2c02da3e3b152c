#pragma once

#include <cstdint>
#include <optional>

#include "plan/plan.hpp"
#include "plan/split.hpp"

namespace tilejit::plan {

/// Which outputs an unrolled formula may have.
enum class Outputs : std::uint8_t {
  whole,   ///< those that do not vary along the unrolled axis
  sliced,  ///< any: of others each slice along the axis is an output
};

/// One part in which reductions over a few elements are chains of operations on slices of their
/// inputs, if what remains is one kernel; nothing otherwise.
[[nodiscard]] std::optional<Split> unroll_reductions(const Fused& op,
                                                     const formula::Analysis& analysis,
                                                     Outputs outputs);

/// The same, such as for the logsumexp of a loss over four classes, if the operation is so small
/// that a kernel more is most of its time.
[[nodiscard]] std::optional<Split> unroll_short_reductions(const Fused& op,
                                                           const formula::Analysis& analysis);

}  // namespace tilejit::plan
