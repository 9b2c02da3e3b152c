#pragma once

#include <cstdint>

#include "plan/plan.hpp"

namespace tilejit::plan {

// Inputs that lie along rows while vectors lie across them. A block brings runs of its rows to
// shared memory, as many vectors of each thread at once as Rows::turned_inputs says, and threads
// take their elements from there.

/// Whether lanes of `plan`, whose vectors lie along rows, would store parts of sectors of a full
/// output, which lies across these, of many elements.
[[nodiscard]] bool lies_across_output(const Plan& plan);
/// Whether `turned`, the same operation's plan whose rows follow the output, turns inputs, and does
/// so well: no block waits for others, and, if kernels of one pass each would be taken instead,
/// inputs come by words.
[[nodiscard]] bool turns_well(const Plan& turned, const Plan& plan);

/// Whether `operand` is such an input of rows that may turn inputs.
[[nodiscard]] bool is_turned_input(const Plan& plan, const Rows& rows, const Operand& operand);

/// Whether the plan's blocks bring the input to shared memory.
[[nodiscard]] bool comes_turned(const Plan& plan, const Operand& operand);

/// The vectors of a thread whose inputs are in shared memory at once, if all that a thread holds
/// comes in few turns; else 0.
[[nodiscard]] int turned_input_vectors(const Plan& plan, Rows rows);

/// Elements of one copy to shared memory: those of 4 bytes, if all rows begin at multiples of these
/// and threads have whole ones; else one.
[[nodiscard]] int turned_copy(const Plan& plan, const Rows& rows, const Operand& operand);

/// The distance of two rows' elements in shared memory: an odd number of words.
[[nodiscard]] std::int64_t turned_input_pitch(const Rows& rows, const Operand& operand);
/// Where the elements of `operand` begin in a block's shared memory, in bytes.
[[nodiscard]] std::int64_t turned_input_place(const Plan& plan, const Rows& rows,
                                              const Operand& operand);
/// Where each row begins in each of these inputs, behind the elements of all.
[[nodiscard]] std::int64_t turned_input_begins(const Plan& plan, const Rows& rows);
/// Bytes of shared memory for elements and begins.
[[nodiscard]] std::int64_t turned_input_bytes(const Plan& plan, const Rows& rows);

}  // namespace tilejit::plan
