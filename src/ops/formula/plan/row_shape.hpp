#pragma once

#include <cstdint>

#include "plan/plan.hpp"

namespace tilejit::plan {

/// Those that hold vectors, of a block of 512 threads that has a multiprocessor.
inline constexpr int kManyRegisters = 64;
/// Vectors of a row that a lane loads at once; of rows that are read once it holds no more.
inline constexpr int kStepsOfLane = 4;

/// Threads of a block, and how they share rows.
struct RowShape {
  Rows rows;
  int threads = 256;
};

/// `plan` has its extents, operands and vector; `rows` says which modes are reduced. Enough lanes a
/// row that each has a few vectors of it, held in registers where they fit and are at most
/// `most_held`, so that global memory is read once.
[[nodiscard]] RowShape choose_row_shape(const Plan& plan, Rows rows, std::int64_t most_held);

/// Loads that a lane has in flight where a row is not held; `plan` has its rows and threads. More
/// where columns leave a multiprocessor with few threads.
[[nodiscard]] int batch_of_rows(const Plan& plan);

/// The most elements of a vector where rows are few and short: a lane then holds one vector, and
/// narrower ones, each of whose elements repeats the formula, are as fast and less to compile.
/// `plan` has its extents and operands, and vectors of one element.
[[nodiscard]] int most_of_small_rows(const Plan& plan);

/// `shape` with what `tuning` pins of it, threads included; what follows from that is adapted.
/// Throws Error{invalid_spec} for what the template cannot do.
[[nodiscard]] RowShape tune_row_shape(const Plan& plan, RowShape shape, const Tuning& tuning,
                                      std::int64_t most_held);

/// Whether a block of that shape takes one row after another, with the next one's vectors on their
/// way to registers (Rows::ahead).
[[nodiscard]] bool loads_ahead(const Plan& plan, const Rows& rows);

/// Accumulators lie in shared memory in two buffers: those of half the threads, and one of each
/// block of a cluster. In bytes.
[[nodiscard]] std::int64_t shared_accumulator_bytes(const Plan& plan, int threads, int groups);

}  // namespace tilejit::plan
