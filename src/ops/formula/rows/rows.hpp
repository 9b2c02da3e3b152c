#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/plan.hpp"

namespace tilejit::plan {

inline constexpr int kWarp = 32;

/// Shared memory of a block for accumulators and for the results that threads read back.
inline constexpr std::int64_t kMaxAccumulatorBytes = 48 * 1024;

/// The axes over which all reductions and scans of `program` go; 0 if it has none. `program` must
/// be one kernel's (is_one_kernel).
[[nodiscard]] std::uint32_t combined_axes(const expr::Program& program) noexcept;

/// Whether the operand's elements differ along the modes that are reduced (`varies_in_row`), or
/// along those that are kept (`varies_across_rows`).
[[nodiscard]] bool varies_in_row(const Operand& operand, const Rows& rows);
[[nodiscard]] bool varies_across_rows(const Operand& operand, const Rows& rows);

/// Whether the operand has an element for each element of a row (`spans_rows`), or for each element
/// of the space (`spans_space`).
[[nodiscard]] bool spans_rows(const Operand& operand, const Rows& rows);
[[nodiscard]] bool spans_space(const Operand& operand, const Rows& rows);

/// Whether the operand's next row begins where the run ends with which a row begins. There are rows
/// along another mode, and extent 0 is known.
[[nodiscard]] bool next_run_follows(const Plan& plan, const Rows& rows, const Operand& operand);

/// Whether a thread loads the input together with the other inputs of its row. An input that all
/// rows share is loaded later, in the pass that needs it, unless there are registers to spare: a
/// thread has only one vector of its row, or few of them and the device half of all threads at
/// once.
[[nodiscard]] bool is_loaded_with_row(const Plan& plan, const Rows& rows, const Operand& operand);

/// If blocks take row after row (Rows::ahead), they may keep their part of an input that all rows
/// share in shared memory. `is_kept` says whether `operand` is such an input; `kept_vectors`
/// returns how many vectors of it a block keeps, `kept_bytes` the bytes of all such parts.
[[nodiscard]] bool is_kept(const Plan& plan, const Rows& rows, const Operand& operand);
[[nodiscard]] int kept_vectors(const Plan& plan, const Rows& rows) noexcept;
[[nodiscard]] int kept_bytes(const Plan& plan, const Rows& rows);
/// `kept_bytes`, raised so that each block has a multiprocessor to itself: two blocks per
/// multiprocessor stream 4 % slower.
[[nodiscard]] int shared_bytes_ahead(const Plan& plan, const Rows& rows);

/// Vectors along the modes that are reduced (`vectors_in_row`), and along those that are kept
/// (`vectors_across_rows`); nothing if an extent is unknown.
[[nodiscard]] std::optional<std::int64_t> vectors_in_row(const Plan& plan, const Rows& rows);
[[nodiscard]] std::optional<std::int64_t> vectors_across_rows(const Plan& plan, const Rows& rows);
/// Elements along the modes that are reduced; nothing if an extent is unknown.
[[nodiscard]] std::optional<std::int64_t> elements_in_row(const Plan& plan, const Rows& rows);
/// The kept mode whose coordinate changes last from row to row; nothing if no mode is kept.
[[nodiscard]] std::optional<std::size_t> outermost_kept(const Plan& plan, const Rows& rows);
/// Whether the plan has inputs, and none of them varies along the outermost kept mode, so that rows
/// along it have the same results. Its extent is known.
[[nodiscard]] bool has_alike_rows(const Plan& plan, const Rows& rows);
/// Threads that share a row, in all of its blocks.
[[nodiscard]] std::int64_t threads_of_row(const Rows& rows) noexcept;
/// Of the vectors of a row that a thread holds, those that every thread of the row has: all but the
/// last one, if the length is known. Splits are not all as long.
[[nodiscard]] std::int64_t whole_steps(const Plan& plan, const Rows& rows);
/// Of the vectors of a peeled row that its threads hold, the first ones, in whole steps of all
/// threads, which end before the row does, wherever it begins in a vector. 0 if the next row is on
/// its way meanwhile: a branch around its loads waits for them (2813/1 of the sweep, 130 us, 196).
[[nodiscard]] std::int64_t inner_vectors(const Plan& plan);
/// Bytes of one vector of each input that varies along a row and is not the same in every row.
[[nodiscard]] int loaded_bytes(const Plan& plan, const Rows& rows);
/// Registers for these vectors.
[[nodiscard]] int registers_of_vector(const Plan& plan, const Rows& rows);

/// Whether a signed 32-bit integer can count the elements of a row.
[[nodiscard]] bool has_short_rows(const Plan& plan);
[[nodiscard]] std::int64_t count_reductions(const Plan& plan);
/// The sizeof of the device's struct that accumulates all reductions of the plan, or all of its
/// scans.
[[nodiscard]] std::int64_t accumulator_bytes(const Plan& plan,
                                             bool (*among)(expr::Op) noexcept = expr::is_reduction);

/// Accumulators that a block has in shared memory if its vectors lie across rows. Each counts for
/// all rows of one vector.
[[nodiscard]] std::int64_t slots_across(int threads, int groups, int cluster) noexcept;

/// Threads that combine the partial results of one row's blocks: a warp if that gives each of its
/// threads at most one of them, otherwise a block.
[[nodiscard]] int combiners(const Plan& plan) noexcept;

/// The sums that passes over rows that are not held fold together with what they are relative to.
/// Distances to a mean need parts of few elements, as rows along vectors have.
[[nodiscard]] std::vector<expr::JoinedSum> joined_sums(const Plan& plan);
/// The same of kernels of one pass each, which leave results and do not hold rows.
[[nodiscard]] std::vector<expr::JoinedSum> joined_sums_apart(const Plan& plan);

/// Whether some of these are about a mean. A thread then has twice as many registers, which leave
/// room for 512 threads of a multiprocessor.
[[nodiscard]] bool has_centres(const Plan& plan);
/// Whether the values that reductions take cost many instructions (row_shape.cpp).
[[nodiscard]] bool has_heavy_values(const Plan& plan);

/// Whether one pass over the elements gives all reductions, and only results of rows are stored.
/// `is_one_pass` is for rows that are not held in registers. `is_one_pass_if_held` is for rows that
/// are; these fold sums below a maximum in a pass of their own.
[[nodiscard]] bool is_one_pass(const Plan& plan);
[[nodiscard]] bool is_one_pass_if_held(const Plan& plan);
/// Whether the kernel, which goes over its rows more than once, has so few of them that most of the
/// device is idle for long. Kernels of one pass each then share the rows among more blocks.
[[nodiscard]] bool leaves_device_idle(const Plan& plan);
/// Bytes of the sectors of operands that span the space: those that the kernel accesses in one
/// pass, and all of them once.
struct SpaceBytes {
  double read = 0, written = 0;
  double read_once = 0, written_once = 0;
};
/// Nothing if extents are not known.
[[nodiscard]] std::optional<SpaceBytes> space_bytes(const Plan& plan, const Rows& rows);
/// Whether the kernel accesses several times the sectors of kernels of one pass each, which follow
/// the input's and the output's order: its strips of columns are narrow, its rows have short runs
/// of neighbours, or lie across an output.
[[nodiscard]] bool cuts_held_sectors(const Plan& plan);

/// Cuts the modes of short columns whose results lie in another order than their elements, so that
/// lanes side by side have both elements and results side by side. Nothing changes if columns are
/// few or long, if results of neighbours lie within a sector, or if no run of vectors divides the
/// innermost mode. `plan` must have its vector.
void cross_results(Plan& plan);

}  // namespace tilejit::plan
