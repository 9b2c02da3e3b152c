// Rows that are read in loops: how many blocks share them, and what a thread loads at once.
#include <algorithm>

#include "core/integer.hpp"
#include "device/scale.hpp"
#include "rows/column_shape.hpp"
#include "rows/row_shape.hpp"
#include "rows/row_threads.hpp"
#include "rows/rows.hpp"

namespace tilejit::plan {
namespace {

using core::ceil_div;

constexpr std::int64_t kMostBalanced = 10;  // vectors of a thread, in one batch or two
// Vectors of a thread that a cluster shares, if rows are few, and bytes of one of its blocks: the
// most if it takes the place of splits, the fewest for which more blocks still save time.
constexpr std::int64_t kLeastSteps = 8, kMostSteps = 256;
constexpr std::int64_t kBytesOfMember = 64 * 1024, kLeastOfMember = 20 * 1024;
constexpr std::int64_t kFewStrips = 32;  // of columns that splits share instead of clusters
constexpr double kKernelsOfLong = 16;    // a second kernel takes a part of the time
constexpr int kLeastTurns = 3;           // of blocks that would have a multiprocessor alone
// Registers of a thread that reads splits with centres, those beside calls, and those that two
// blocks of 512 threads leave each.
constexpr int kOwnRegisters = 26, kRegistersOfCalls = 12, kRegistersOfTwoBlocks = 64;

/// Whether a multiprocessor has registers for two blocks that read splits with centres, if a thread
/// has `batch` loads under way. A heavy formula takes these registers, about, besides loads and
/// accumulators.
bool leaves_two_blocks(const Plan& plan, const Rows& rows, int batch) {
  const std::int64_t own =
      kOwnRegisters + (calls_sines(plan) ? kRegistersOfCalls : 0) + accumulator_bytes(plan);
  return own + batch * registers_of_vector(plan, rows) <= kRegistersOfTwoBlocks;
}

/// Blocks that read a part of each row in a loop, of rows that `blocks` blocks of threads with
/// `steps` vectors would have. Centres leave registers for one block on each multiprocessor, and
/// take long to combine; heavy formulas take longer, but not if two blocks have no registers. Of
/// columns, all blocks run at once.
std::int64_t splits_of_loops(const Plan& plan, Rows rows, std::int64_t blocks, int threads,
                             std::int64_t steps) {
  const bool alone = rows.along() && !rows.abreast;
  const bool centres = has_centres(plan) && !(alone && has_heavy_values(plan) &&
                                              leaves_two_blocks(plan, rows, kBatchOfRows / 2));
  const int least = centres ? kStepsOfThread : alone ? kVectorsOfThread : 2 * kStepsOfThread;
  const auto splits_by = [&](int together) {  // on a multiprocessor
    const std::int64_t of_row =
        together * device::kMultiprocessors / std::max<std::int64_t>(blocks, 1);
    return std::max<std::int64_t>(1, std::min(of_row, steps / least));
  };
  if (rows.along()) return splits_by(centres ? 1 : alone ? 2 : 4);
  const int most = centres ? 2 : 4;
  rows.splits = static_cast<int>(splits_by(most));
  return splits_by(std::min(most, blocks_together(plan, {rows, threads})));
}

/// Loads in flight of a thread that has so many vectors of a row: its last batch is as full as the
/// others. Of 129 vectors, 32 threads have 5 or 4.
int batch_of_steps(std::int64_t steps) {
  if (steps > kMostBalanced) return kBatchOfRows;
  const std::int64_t batches = ceil_div(steps, std::int64_t{kBatchOfRows + 1});
  return static_cast<int>(ceil_div(steps, std::max<std::int64_t>(1, batches)));
}

/// Whether splits of rows, of which a multiprocessor has two at once, would lack registers for
/// that, and have enough of them with half as many loads under way: to a heavy formula, threads
/// count more than loads.
bool leaves_room_by_half(const Plan& plan, const Rows& rows) {
  const std::int64_t blocks = rows.splits * vectors_across_rows(plan, rows).value_or(1);
  if (rows.splits == 1 || rows.abreast || blocks <= device::kMultiprocessors ||
      !has_centres(plan) || !has_heavy_values(plan))
    return false;
  return !leaves_two_blocks(plan, rows, kBatchOfRows) &&
         leaves_two_blocks(plan, rows, kBatchOfRows / 2);
}

}  // namespace

bool leaves_results(const Plan& plan, const Rows& rows, std::int64_t blocks) {
  if (!is_one_pass(plan)) return false;
  if (plan.target.major < 9) return 2 * blocks <= device::kWantedBlocks;
  if (device::kMaxCluster * blocks < device::kManyBlocks) return true;
  if (rows.along() || blocks > kFewStrips) return false;
  const double bytes = static_cast<double>(vectors_in_row(plan, rows).value_or(0) *
                                           vectors_across_rows(plan, rows).value_or(0)) *
                       loaded_bytes(plan, rows);
  return are_odd_elements(plan) || bytes > kKernelsOfLong * device::kKernelUs * device::kBytesOfUs;
}

void share_among_blocks(const Plan& plan, std::int64_t blocks, int threads, std::int64_t steps,
                        Rows& rows) {
  std::int64_t least_steps = 2 * kStepsOfThread;  // that two blocks share
  if (leaves_results(plan, rows, blocks)) {
    // The blocks of a cluster need no second kernel, but each has to read more.
    const std::int64_t bytes = steps / device::kMaxCluster * threads * loaded_bytes(plan, rows);
    if (plan.target.major < 9 || rows.atomics || steps < kLeastSteps || steps > kMostSteps ||
        bytes > kBytesOfMember) {
      rows.splits = static_cast<int>(splits_of_loops(plan, rows, blocks, threads, steps));
      return;
    }
    least_steps = kStepsOfThread;
  }
  const std::int64_t bytes_of_block =
      std::int64_t{threads} * kStepsOfThread * 4 * registers_of_vector(plan, rows);
  // A block that a multiprocessor has alone computes while nothing is loaded.
  const auto are_alone = [&](std::int64_t all) {
    return all == device::kManyBlocks && rows.along() && !rows.abreast && is_one_pass(plan) &&
           steps >= 2 * kLeastTurns * kStepsOfThread * rows.cluster;
  };
  const auto are_few = [&](std::int64_t all) {
    if (all < device::kManyBlocks || are_alone(all)) return true;
    return 2 * all < 3 * device::kManyBlocks && all * bytes_of_block < device::kBytesUnderWay;
  };
  // A multiprocessor takes a microsecond for 40 KB, while each block still has one to itself.
  const auto are_long = [&] {
    return rows.along() && is_one_pass(plan) && 2 * rows.cluster * blocks <= device::kManyBlocks &&
           steps * threads * loaded_bytes(plan, rows) >= kLeastOfMember * rows.cluster;
  };
  while (plan.target.major >= 9 && rows.cluster < device::kMaxCluster &&
         are_few(rows.cluster * blocks) && (steps / rows.cluster >= least_steps || are_long())) {
    rows.cluster *= 2;
  }
}

int batch_of_rows(const Plan& plan) {
  const Rows& rows = *rows_of(plan);
  const auto length = vectors_in_row(plan, rows);
  if (rows.along() && rows.register_vectors == 0 && leaves_room_by_half(plan, rows))
    return kBatchOfRows / 2;
  if (plan.peeled && rows.along() && length && rows.register_vectors == 0)
    return batch_of_steps(ceil_div(*length, threads_of_row(rows)));
  const bool single = rows.along() && rows.register_vectors == 0 && plan.vector == 1;
  if (single && length && *length > kBatchOfRows * threads_of_row(rows)) return kBatchOfBytes;
  return rows.along() ? kBatchOfRows : batch_of_columns(plan);
}

}  // namespace tilejit::plan
