#pragma once

#include "plan/plan.hpp"

namespace tilejit::plan {

/// Cycles of a multiprocessor's L1 cache and shared memory that the plan's kernel takes per element
/// of the space: a request of a warp takes one for each 128-byte line that it touches, and one for
/// each word that it finds in the busiest bank. The plan is that of fused_map.cu, fused_tile.cu or
/// fused_box.cu, and its launch is chosen; extents and strides are known, and operands have one
/// leaf a mode, except in maps.
[[nodiscard]] double cycles_per_element(const Plan& plan);

/// Cycles per element in which a map finds the coordinates of its vectors; 0 for other families.
[[nodiscard]] double cycles_of_numbers(const Plan& plan);

/// The same of one operand alone if the threads of a block go through `box` in the order of `walk`.
[[nodiscard]] double cycles_of_walk(const Box& box, const Walk& walk, const Operand& operand);

/// Aligned units of `unit` bytes that its requests touch, per element.
[[nodiscard]] double units_of_walk(const Box& box, const Walk& walk, const Operand& operand,
                                   std::int64_t unit);

/// The same of an operand that passes through shared memory, with what this takes.
[[nodiscard]] double cycles_of_transposed(const Box& box, const Transposed& transposed,
                                          const Operand& operand);

/// Cycles per element in which an operand of elements of `bytes` bytes is accessed in shared
/// memory, whose neighbours along mode m lie pitch[m] elements apart.
[[nodiscard]] double bank_cycles(const Box& box, const Walk& walk,
                                 const std::vector<std::int64_t>& pitch, int bytes);

}  // namespace tilejit::plan
