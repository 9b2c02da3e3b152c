#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/plan.hpp"

namespace tilejit::plan {

inline constexpr int kWarp = 32;

/// Accumulators of a block, and what is read of each result, share this much memory.
inline constexpr std::int64_t kMaxAccumulatorBytes = 48 * 1024;

/// The axes that the reductions and scans of `program`, which is one kernel's (is_one_kernel),
/// share; 0 without any.
[[nodiscard]] std::uint32_t combined_axes(const expr::Program& program) noexcept;

/// Whether the operand's elements differ along the modes that are reduced, and along those that are
/// kept.
[[nodiscard]] bool varies_in_row(const Operand& operand, const Rows& rows);
[[nodiscard]] bool varies_across_rows(const Operand& operand, const Rows& rows);

/// Whether a lane loads the input with the others of its row: one that all rows share waits for the
/// pass that needs it, unless a lane has one vector of its row, as registers are left then.
[[nodiscard]] bool is_loaded_with_row(const Rows& rows, const Operand& operand) noexcept;

/// Where blocks stay (Rows::ahead): whether the block's part of an input that all rows share lies
/// in its shared memory, and the bytes of all such parts.
[[nodiscard]] bool is_kept(const Plan& plan, const Rows& rows, const Operand& operand);
[[nodiscard]] int kept_bytes(const Plan& plan, const Rows& rows);
/// Those bytes, and as many more as let each block have a multiprocessor: two of them stream 4 %
/// slower.
[[nodiscard]] int shared_bytes_ahead(const Plan& plan, const Rows& rows);

/// Vectors along the modes that are reduced, and along those that are kept, as far as known.
[[nodiscard]] std::optional<std::int64_t> vectors_in_row(const Plan& plan, const Rows& rows);
[[nodiscard]] std::optional<std::int64_t> vectors_across_rows(const Plan& plan, const Rows& rows);
/// Elements along the modes that are reduced, as far as known.
[[nodiscard]] std::optional<std::int64_t> elements_in_row(const Plan& plan, const Rows& rows);
/// Threads that share a row, of all its blocks.
[[nodiscard]] std::int64_t lanes_of_row(const Rows& rows) noexcept;
/// Registers that one vector of every operand takes.
[[nodiscard]] int registers_of_vector(const Plan& plan, const Rows& rows);

/// Whether 32 bits count the elements of a row, with a sign.
[[nodiscard]] bool has_short_rows(const Plan& plan);
/// sizeof of the device's struct that accumulates all reductions of the plan, or all its scans, in
/// bytes.
[[nodiscard]] std::int64_t accumulator_bytes(const Plan& plan,
                                             bool (*among)(expr::Op) noexcept = expr::is_reduction);

/// Accumulators, of a vector's rows each, that a block of lanes across rows has in shared memory.
[[nodiscard]] std::int64_t slots_across(int threads, int groups, int cluster) noexcept;

/// Threads that combine what the blocks of one row of a reduction have left in memory: a block, or
/// a warp where each of its threads has no more than one of these.
[[nodiscard]] int combiners(const Plan& plan) noexcept;

/// Whether one pass over the elements gives all reductions, and all that is stored are results of
/// rows: of rows that are not held in registers, and of those that are, which fold sums below a
/// maximum in a pass of their own.
[[nodiscard]] bool is_one_pass(const Plan& plan);
[[nodiscard]] bool is_one_pass_if_held(const Plan& plan);

}  // namespace tilejit::plan
