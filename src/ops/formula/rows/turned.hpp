#pragma once

#include <cstdint>

#include "plan/plan.hpp"

namespace tilejit::plan {

// Outputs that lie along rows while vectors lie across them. Threads leave them in shared memory,
// as many vectors of each thread at once as Rows::turned says, and then store runs of neighbours.

/// Whether `operand` is such an output of columns.
[[nodiscard]] bool is_turned(const Plan& plan, const Rows& rows, const Operand& operand);

/// Whether the plan's threads leave the output in shared memory.
[[nodiscard]] bool passes_turned(const Plan& plan, const Operand& operand);

/// Bytes of neighbours that the lanes of a warp store together, at least, if outputs are not
/// turned.
inline constexpr int kRunOfLanes = 16;

/// The vectors of a thread that go through shared memory at once; 0 if no output is turned.
[[nodiscard]] int turned_vectors(const Plan& plan, Rows rows);

/// Rows of a block.
[[nodiscard]] std::int64_t turned_columns(const Plan& plan, const Rows& rows);
/// The distance of two rows' elements in shared memory: threads side by side access all banks.
[[nodiscard]] std::int64_t turned_pitch(const Plan& plan, const Rows& rows, const Operand& operand);
/// Where the elements of `operand` begin in a block's shared memory, in bytes.
[[nodiscard]] std::int64_t turned_place(const Plan& plan, const Rows& rows, const Operand& operand);
/// Behind the elements of all outputs, each row of each output has a number: where it begins in
/// memory.
inline constexpr std::int64_t kBytesOfBegin = 8;
/// Where these numbers begin, in bytes.
[[nodiscard]] std::int64_t turned_begins(const Plan& plan, const Rows& rows);
/// Bytes of shared memory for elements and numbers.
[[nodiscard]] std::int64_t turned_bytes(const Plan& plan, const Rows& rows);

}  // namespace tilejit::plan
