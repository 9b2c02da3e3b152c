// Columns that are read once: the batches in which threads load them, and the turns that blocks
// take on the device, which depend on what batches take of registers.
#include <algorithm>
#include <cmath>

#include "core/integer.hpp"
#include "device/occupancy.hpp"
#include "device/scale.hpp"
#include "rows/column_shape.hpp"
#include "rows/row_shape.hpp"
#include "rows/row_threads.hpp"
#include "rows/rows.hpp"

namespace tilejit::plan {
namespace {

using core::ceil_div;

constexpr int kLargeBatch = 6;  // of columns that leave a multiprocessor few threads
constexpr std::int64_t kManyOfThread = 16;
// Registers that NVRTC gives a thread, about, besides those of its batch and its accumulators.
constexpr int kOwnRegisters = 20, kRegistersOfShifts = 10, kRegistersOfHeavy = 4,
              kRegistersOfCentres = 8;
constexpr double kFewTurns = 1.6;            // of which the last is mostly empty
constexpr std::int64_t kStepsOfMember = 16;  // of a thread in a cluster
constexpr std::int64_t kStepsOfLong = 64;    // of a thread, which hardly waits when they meet
constexpr int kWord = 4;

/// Whether elements of a column have two bytes at most, come one or two at a time, and cost more
/// than one reduction does.
bool has_narrow_loads(const Plan& plan, const Rows& rows) {
  const auto is_narrow = [&](const Operand& operand) {
    return !operand.read || !varies_in_row(operand, rows) || size_bytes(operand.dtype) <= 2;
  };
  const bool costs = count_reductions(plan) > 1 || has_centres(plan) || has_heavy_values(plan);
  return plan.vector <= 2 && costs && std::ranges::all_of(plan.operands, is_narrow);
}

/// Whether `vectors` of a thread make several batches that are nearly full.
bool fills_batches(std::int64_t vectors) {
  const std::int64_t batches = ceil_div(vectors, std::int64_t{kBatchOfBytes});
  return vectors >= kManyOfThread && 4 * batches * kBatchOfBytes <= 5 * vectors;
}

/// Loads under way, as the elements and the length of columns suggest.
int wanted_batch(const Plan& plan, const Rows& rows, std::int64_t length, std::int64_t count) {
  const std::int64_t threads = threads_of_row(rows), steps = ceil_div(length, threads);
  const bool narrow = least_access(plan, rows) == 1 && length >= kBatchOfBytes * threads;
  if (narrow || (has_narrow_loads(plan, rows) && fills_batches(steps))) return kBatchOfBytes;
  const std::int64_t blocks = ceil_div(count * threads, std::int64_t{plan.threads});
  const bool few = blocks <= device::kManyBlocks && length >= kLargeBatch * threads;
  // Batches have as many, about. By five of a light formula, each load waits for the one before.
  if (few) {
    const std::int64_t each = ceil_div(steps, ceil_div(steps, std::int64_t{kLargeBatch}));
    return static_cast<int>(has_heavy_values(plan) ? each : each + each % 2);
  }
  // What has centres moves them together for each batch.
  const bool moves = plan.vector <= 2 && has_centres(plan) && fills_batches(steps);
  return moves ? kBatchOfBytes : kBatchOfRows;
}

/// Registers of what a thread loads at a time: narrow accesses have one each, shifted vectors two
/// chunks.
int registers_of_step(const Plan& plan, const Rows& rows) {
  int registers = 0;
  for (const Operand& operand : plan.operands) {
    if (!is_loaded_with_row(plan, rows, operand) || !varies_in_row(operand, rows)) continue;
    const int bytes = plan.vector * size_bytes(operand.dtype);
    const int of_access = std::clamp(operand.access_bytes, 1, kWord);
    const int each = operand.reach == Reach::broadcast ? 1 : ceil_div(bytes, of_access);
    registers += operand.shifted ? 2 * each : each;
  }
  return registers;
}

/// Registers of a thread, about: those of kernels for random columns deviate by 7.
int registers_of_thread(const Plan& plan, const Rows& rows, int batch) {
  const auto accumulators = static_cast<int>(plan.vector * accumulator_bytes(plan) / kWord);
  const bool shifts = std::ranges::any_of(plan.operands, &Operand::shifted);
  return kOwnRegisters + batch * registers_of_step(plan, rows) * 4 / 5 + accumulators * 3 / 2 +
         (shifts ? kRegistersOfShifts : 0) + (has_heavy_values(plan) ? kRegistersOfHeavy : 0) +
         (has_centres(plan) ? kRegistersOfCentres : 0);
}

/// Blocks that registers leave room for on a multiprocessor.
int resident_blocks(const Plan& plan, const Rows& rows, int batch) {
  const device::Occupancy occupancy = device::occupancy_of(
      device::device_of(plan.target),
      {.threads = plan.threads, .registers = registers_of_thread(plan, rows, batch)});
  return std::max(1, occupancy.blocks);
}

/// How often as many blocks as run at once follow each other.
double turns_of(const Plan& plan, const Rows& rows, int batch) {
  const std::int64_t count = vectors_across_rows(plan, rows).value_or(0);
  const std::int64_t strips = ceil_div(count, std::int64_t{plan.threads / rows.row_threads});
  const std::int64_t at_once = device::kMultiprocessors * resident_blocks(plan, rows, batch);
  return static_cast<double>(strips * rows.cluster * rows.splits) / static_cast<double>(at_once);
}

}  // namespace

int batch_of_columns(const Plan& plan) {
  const Rows& rows = *rows_of(plan);
  const auto length = vectors_in_row(plan, rows), count = vectors_across_rows(plan, rows);
  if (!length || !count) return kBatchOfRows;
  const int batch = wanted_batch(plan, rows, *length, *count);
  if (rows.register_vectors > 0 || !is_one_pass(plan) ||
      batch * loaded_bytes(plan, rows) < kBytesOfLargeBatch)
    return batch;
  // Half of it leaves registers for more blocks, of which some would else run alone.
  const bool gains = turns_of(plan, rows, batch) > 1 && turns_of(plan, rows, batch / 2) <= 1;
  return gains ? batch / 2 : batch;
}

int blocks_together(Plan plan, const RowShape& shape) {
  plan.family = shape.rows;
  plan.threads = shape.threads;
  return resident_blocks(plan, shape.rows, batch_of_columns(plan));
}

bool runs_at_once_by_half(Plan plan, const RowShape& shape) {
  const auto length = vectors_in_row(plan, shape.rows);
  const auto turns_by = [&](int part) {
    Rows rows = shape.rows;
    rows.row_threads /= part;
    plan.family = rows;
    plan.threads = shape.threads / part;
    return turns_of(plan, rows, batch_of_columns(plan));
  };
  return length && *length < kStepsOfLong * shape.rows.row_threads && shape.rows.row_threads > 1 &&
         shape.threads > kWarp && is_one_pass(plan) && !calls_sines(plan) && turns_by(1) > 1 &&
         turns_by(2) <= 1;
}

int cluster_of_turns(Plan plan, const RowShape& shape) {
  plan.family = shape.rows;
  plan.threads = shape.threads;
  const auto length = vectors_in_row(plan, shape.rows),
             count = vectors_across_rows(plan, shape.rows);
  if (!length || !count || plan.target.major < 9 || !is_one_pass(plan)) return shape.rows.cluster;
  const double turns = turns_of(plan, shape.rows, batch_of_columns(plan));
  if (turns <= 1 || turns > kFewTurns) return shape.rows.cluster;
  const auto time_of = [&](int cluster) {
    return std::ceil(turns * cluster / shape.rows.cluster) / cluster;
  };
  int best = shape.rows.cluster;
  for (int cluster = 2 * best; cluster < device::kMaxCluster; cluster *= 2) {
    const bool is_long = *length >= kStepsOfMember * cluster * shape.rows.row_threads;
    if (is_long && time_of(cluster) < time_of(best)) best = cluster;
  }
  return best;
}

}  // namespace tilejit::plan
