#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/plan.hpp"

namespace tilejit::plan {

/// Accumulators of a block, and what is read of each result, share this much memory.
inline constexpr std::int64_t kMaxAccumulatorBytes = 48 * 1024;

/// The axes that the reductions and scans of `program` share; 0 without any. Throws
/// Error{unsupported} for different axes, which no template computes yet.
[[nodiscard]] std::uint32_t combined_axes(const expr::Program& program);

/// Whether the operand's elements differ along the modes that are reduced, and along those that are
/// kept.
[[nodiscard]] bool varies_in_row(const Operand& operand, const Rows& rows);
[[nodiscard]] bool varies_across_rows(const Operand& operand, const Rows& rows);

/// Where blocks fetch rows ahead (Rows::stages): whether the operand's part of each row is copied
/// to shared memory, or, of an input that all rows share, its part of all rows, once. Bytes of a
/// block for one row, and for all.
[[nodiscard]] bool is_fetched(const Operand& operand, const Rows& rows);
[[nodiscard]] bool is_kept(const Operand& operand, const Rows& rows);
[[nodiscard]] int fetched_bytes(const Plan& plan, const Rows& rows);
[[nodiscard]] int kept_bytes(const Plan& plan, const Rows& rows);
/// Bytes of all stages and of what is kept, and as many more as let large blocks have a
/// multiprocessor each: two of them stream 4 % slower.
[[nodiscard]] int ring_bytes(const Plan& plan, const Rows& rows);

/// Vectors along the modes that are reduced, and along those that are kept, as far as known.
[[nodiscard]] std::optional<std::int64_t> vectors_in_row(const Plan& plan, const Rows& rows);
[[nodiscard]] std::optional<std::int64_t> vectors_across_rows(const Plan& plan, const Rows& rows);
/// Registers that one vector of every operand takes.
[[nodiscard]] int registers_of_vector(const Plan& plan, const Rows& rows);

/// sizeof of the device's struct that accumulates all reductions of `program`, or all its scans, in
/// bytes.
[[nodiscard]] std::int64_t accumulator_bytes(const expr::Program& program,
                                             bool (*among)(expr::Op) noexcept = expr::is_reduction);

/// Threads of a block, and how they share rows.
struct RowShape {
  Rows rows;
  int threads = 256;
};

/// `plan` has its extents, operands and vector; `rows` says which modes are reduced. Enough lanes a
/// row that each has a few vectors of it, held in registers where they fit and are at most
/// `most_held`, so that global memory is read once.
[[nodiscard]] RowShape choose_row_shape(const Plan& plan, Rows rows, std::int64_t most_held);

/// `shape` with what `tuning` pins of it, threads included; what follows from that is adapted.
/// Throws Error{invalid_spec} for what the template cannot do.
[[nodiscard]] RowShape tune_row_shape(const Plan& plan, RowShape shape, const Tuning& tuning,
                                      std::int64_t most_held);

}  // namespace tilejit::plan
