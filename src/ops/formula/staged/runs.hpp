#pragma once

#include <cstdint>

#include "plan/plan.hpp"

namespace tilejit::plan {

/// Whether the operand is staged and has an element for each element of a row.
[[nodiscard]] bool is_full(const Plan& plan, const Operand& operand);

/// Bytes of a vector of the widest element that is staged.
[[nodiscard]] int widest_vector(const Plan& plan);

/// The most vectors of a row that a thread may hold.
[[nodiscard]] std::int64_t most_held(const Plan& plan, const Rows& rows);

/// Bytes per row that a block copies to shared memory, and bytes of shared memory per row.
[[nodiscard]] std::int64_t input_bytes_of_row(const Plan& plan);
[[nodiscard]] std::int64_t shared_bytes_of_row(const Plan& plan);

}  // namespace tilejit::plan
