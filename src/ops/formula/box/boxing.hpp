#pragma once

#include <optional>

#include "plan/plan.hpp"

namespace tilejit::plan {

/// The plan of the same operation by boxes, if that takes distinctly fewer cycles of the L1 cache.
/// `plan` is complete except for its params. Returns nothing also if extents or strides are
/// symbols, if an operand's mode has several leaves, or if the space is small.
[[nodiscard]] std::optional<Plan> plan_by_boxes(const Plan& plan);

/// The plan of a map by elements as boxes that every operand is walked through in the outputs'
/// order: what lies between a thread's elements is known when compiling. Returns nothing if that
/// takes no fewer cycles, or if memory takes longer than the map.
[[nodiscard]] std::optional<Plan> plan_by_boxes_in_order(const Plan& plan);

/// Bytes of shared memory that the transposed operands take, without padding between them.
[[nodiscard]] std::int64_t shared_bytes(const Plan& plan, const Box& box);

}  // namespace tilejit::plan
