#pragma once

#include <cstdint>
#include <optional>

#include "plan/plan.hpp"

namespace tilejit::plan {

/// Whether the operand is staged and has an element for each element of a row.
[[nodiscard]] bool is_full(const Plan& plan, const Operand& operand);

/// Bytes of a vector of the widest element that is staged.
[[nodiscard]] int widest_vector(const Plan& plan);

/// The most vectors of a row that a thread may hold.
[[nodiscard]] std::int64_t most_held(const Plan& plan, const Rows& rows);

/// Whether `operand` is an input whose rows are no run, but are padded, unaligned, or have gaps,
/// and lanes that each read their own rows, `rows.row_threads` a row, would access many lines at a
/// time. Then they copy the block's rows to shared memory first, where these lie as a run does:
/// lanes side by side take neighbours of a row.
[[nodiscard]] bool is_gathered(const Plan& plan, const Rows& rows, const Operand& operand);
/// The elements of `operand` per row in shared memory; nothing if it is accessed where it is.
[[nodiscard]] std::optional<std::int64_t> shared_pitch(const Plan& plan, const Rows& rows,
                                                       const Operand& operand);

/// Bytes per row that a block copies to shared memory, and bytes of shared memory per row.
[[nodiscard]] std::int64_t input_bytes_of_row(const Plan& plan, const Rows& rows);
[[nodiscard]] std::int64_t shared_bytes_of_row(const Plan& plan, const Rows& rows);

/// Whether all that is read and written is under way at once, so that copies of rows, which threads
/// wait for before they compute, take longer than narrow accesses of `elements` of the space.
[[nodiscard]] bool moves_little(const Plan& plan, const Rows& rows, std::int64_t elements);

}  // namespace tilejit::plan
