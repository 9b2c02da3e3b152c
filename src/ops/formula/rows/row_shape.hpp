#pragma once

#include <cstdint>

#include "plan/plan.hpp"

namespace tilejit::plan {

/// Registers per thread that hold vectors, if a block of 512 threads has a multiprocessor to
/// itself.
inline constexpr int kManyRegisters = 64;
/// Vectors of a row that a thread loads at once. If rows are read only once, a thread holds no more
/// than these.
inline constexpr int kStepsOfThread = 4;
/// Vectors that are enough in flight; more would repeat the formula in the code.
inline constexpr int kVectorsOfThread = 2;
/// Loads that a thread has in flight if rows are not held: vectors, and narrow ones.
inline constexpr int kBatchOfRows = 4, kBatchOfBytes = 8;

/// Bytes of a block: multiprocessors load as much between the starts of two blocks.
inline constexpr std::int64_t kBytesOfBlock = 6 * 1024;

/// Threads of a block, and how they share rows.
struct RowShape {
  Rows rows;
  int threads = 256;
};

/// Chooses enough threads per row that each has only a few vectors. Threads hold them in registers
/// if they fit and are at most `most_held`, so that global memory is read once. `plan` must have
/// its extents, operands and vector; `rows` says which modes are reduced.
[[nodiscard]] RowShape choose_row_shape(const Plan& plan, Rows rows, std::int64_t most_held);

/// Whether `blocks`, those that have rows to reduce, are so few that other blocks should share the
/// rows through memory. A second kernel costs a microsecond, so a cluster is better if it is large
/// enough, unless its strips of columns would begin within sectors, or memory takes much longer.
[[nodiscard]] bool leaves_results(const Plan& plan, const Rows& rows, std::int64_t blocks);

/// Shares long rows among blocks if one block per row would leave multiprocessors idle, or too few
/// bytes under way. Without sharing, `blocks` blocks of `threads` threads have rows to reduce, and
/// each thread has `steps` vectors of a row.
void share_among_blocks(const Plan& plan, std::int64_t blocks, int threads, std::int64_t steps,
                        Rows& rows);

/// Whether rows are so many, and their values so heavy, that to compute these again takes longer
/// than blocks gain that hold rows together.
[[nodiscard]] bool is_heavy(const Plan& plan, const Rows& rows);

/// The shape of rows of several modes whose first run of neighbours is shorter than two sectors and
/// is followed by the next row's in memory: threads of such rows are side by side, so that a warp
/// accesses whole lines. Nothing if there are none, or if no block holds what several passes read.
[[nodiscard]] std::optional<RowShape> shape_abreast(const Plan& plan, Rows rows,
                                                    std::int64_t most_held);

/// The shape of rows whose vectors lie across: part of choose_row_shape.
[[nodiscard]] RowShape shape_across(const Plan& plan, Rows rows, std::int64_t most_held);

/// Blocks that a multiprocessor should have at once, for which the compiler then saves registers; 1
/// if it may take as many as it likes.
[[nodiscard]] int blocks_at_once(const Plan& plan);

/// Rows for which threads store one result (Rows::alike): as many as leave the device's threads
/// busy. `plan` must have its vector, and `rows` its threads.
[[nodiscard]] int alike_rows(const Plan& plan, const Rows& rows);

/// Loads that a thread has in flight if rows are not held. There are more of them if rows are
/// columns and leave a multiprocessor with few threads. `plan` must have its rows and threads.
[[nodiscard]] int batch_of_rows(const Plan& plan);

/// The most elements per vector if rows are few and short. A thread then holds one vector. Every
/// element of a vector repeats the formula in the code, so narrower vectors compile faster, and
/// they are as fast at run time. `plan` must have its extents and operands, and vectors of one
/// element.
[[nodiscard]] int most_of_small_rows(const Plan& plan);

/// The same for columns: so few that there are threads enough to load all columns at once, that a
/// thread holds a short column whole if it is read more than once, and that accumulators are small.
[[nodiscard]] int most_of_columns(const Plan& plan);

/// Columns side by side that share sectors of an input whose sectors lie along an outer kept mode,
/// such as 35 * 8 of `(7,5,n)` where neighbours along n are two elements of two bytes apart; 0 if
/// there is no such input, or if these are more than a block has.
[[nodiscard]] std::int64_t columns_of_sectors(const Plan& plan, const Rows& rows);

/// Whether columns are read once, and so short that a thread loads all of one at once.
[[nodiscard]] bool has_short_columns(const Plan& plan);

/// Bytes of shared memory for accumulators of a block that holds columns.
[[nodiscard]] std::int64_t held_shared_bytes(const Plan& plan, const Rows& rows, int threads);

/// `shape` with the knobs that `tuning` pins, threads included, and with everything that follows
/// from them adapted. Throws Error{invalid_spec} for what the template cannot do.
[[nodiscard]] RowShape tune_row_shape(const Plan& plan, RowShape shape, const Tuning& tuning,
                                      std::int64_t most_held);

/// Whether a block of that shape takes one row after another and already loads the next row's
/// vectors to registers (Rows::ahead).
[[nodiscard]] bool loads_ahead(const Plan& plan, const Rows& rows);

/// Bytes of shared memory for the accumulators of a block whose vectors lie across rows: those of
/// its threads and groups, and those of all blocks of a cluster (see slots_across).
[[nodiscard]] std::int64_t shared_accumulator_bytes(const Plan& plan, int threads, int groups);

}  // namespace tilejit::plan
