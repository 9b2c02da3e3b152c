// Knobs of a row's shape that a person or the tuner has pinned.
#include <algorithm>
#include <string>

#include "core/integer.hpp"
#include "rows/row_shape.hpp"
#include "rows/rows.hpp"
#include "tilejit/error.hpp"

namespace tilejit::plan {
namespace {

using core::ceil_div;

constexpr int kMostRegisters = 128;  // to hold vectors: half of a thread's registers

[[noreturn]] void refuse_knob(const char* knob, const std::string& why) {
  throw Error(ErrorCode::invalid_spec, why, std::string("/tuning/") + knob);
}

void check_threads(const RowShape& shape) {
  if (shape.threads >= shape.rows.row_threads && shape.threads % shape.rows.row_threads == 0)
    return;
  refuse_knob("threads", std::to_string(shape.threads) + " threads cannot be shared by groups of " +
                             std::to_string(shape.rows.row_threads) +
                             ", as a row takes; use a multiple");
}

/// Checks what fused_rows.cu asks of its constants.
void check_blocks_of_row(const Plan& plan, const RowShape& shape) {
  const Rows& rows = shape.rows;
  if (rows.cluster > 1 && plan.target.major < 9) {
    refuse_knob("cluster", "clusters need sm_90 or later; remove it");
  }
  if (rows.cluster > 1 && rows.along() && !rows.abreast && shape.threads != rows.row_threads) {
    refuse_knob("cluster",
                "the blocks of a cluster share one row, so that it takes all their threads; use " +
                    std::to_string(rows.row_threads) + " threads, or no cluster");
  }
  if (rows.splits == 1) return;
  if (rows.cluster > 1) refuse_knob("splits", "a row has splits or a cluster; remove one");
  const bool known = std::ranges::all_of(plan.extents, &Dim::is_known);
  if (!known || !is_one_pass(plan)) {
    refuse_knob("splits",
                "only reductions of known extents, none of another's result, with no output of the "
                "full space, can be shared through memory; remove it");
  }
  if (rows.register_vectors > 0 && !is_one_pass_if_held(plan)) {
    refuse_knob("register_vectors",
                "a split that is held is read once, and its sums below a maximum would be a second "
                "reduction; use 0, or no splits");
  }
}

void check_registers(const Plan& plan, const RowShape& shape,
                     const std::optional<std::int64_t>& steps) {
  const Rows& rows = shape.rows;
  if (!rows.along() && held_shared_bytes(plan, rows, shape.threads) > kMaxAccumulatorBytes) {
    refuse_knob("threads", "accumulators of " + std::to_string(shape.threads) +
                               " threads exceed 48 KiB of shared memory; use fewer");
  }
  if (rows.register_vectors == 0) return;
  const bool enough = steps && rows.register_vectors >= *steps;
  if (!enough || rows.register_vectors * registers_of_vector(plan, rows) > kMostRegisters) {
    refuse_knob("register_vectors",
                "a thread has " + (steps ? std::to_string(*steps) : "an unknown number of") +
                    " vectors of a row to hold, in at most 128 registers; use 0, or more "
                    "threads");
  }
}

}  // namespace

RowShape tune_row_shape(const Plan& plan, RowShape shape, const Tuning& tuning,
                        std::int64_t most_held) {
  Rows& rows = shape.rows;
  const bool pins_row =
      tuning.row_threads || tuning.cluster || tuning.splits || tuning.register_vectors;
  if (!pins_row && !tuning.threads) {
    rows.atomics = tuning.atomics.value_or(false) && rows.splits > 1;
    return shape;
  }
  const bool was_held = rows.register_vectors > 0;
  rows.row_threads = tuning.row_threads.value_or(rows.row_threads);
  rows.cluster = tuning.cluster.value_or(tuning.splits.value_or(1) > 1 ? 1 : rows.cluster);
  rows.splits = tuning.splits.value_or(tuning.cluster.value_or(1) > 1 ? 1 : rows.splits);
  const auto vectors = vectors_in_row(plan, rows);
  std::optional<std::int64_t> steps;
  if (vectors) {
    steps = std::max<std::int64_t>(1, ceil_div(*vectors, threads_of_row(rows)));
  }
  if (pins_row) {
    const std::int64_t most =
        is_one_pass(plan) ? std::min<std::int64_t>(kStepsOfThread, most_held) : most_held;
    const bool fits = was_held && steps && *steps <= most &&
                      *steps * registers_of_vector(plan, rows) <= kManyRegisters &&
                      (rows.splits == 1 || is_one_pass_if_held(plan));
    rows.register_vectors = tuning.register_vectors.value_or(fits ? static_cast<int>(*steps) : 0);
    const bool alone = rows.cluster > 1 && rows.along() && !rows.abreast;
    shape.threads =
        alone ? rows.row_threads : std::max(shape.threads / rows.row_threads, 1) * rows.row_threads;
  }
  shape.threads = tuning.threads.value_or(std::max(shape.threads, kWarp));
  check_threads(shape);
  check_blocks_of_row(plan, shape);
  check_registers(plan, shape, steps);
  if (pins_row) rows.ahead = rows.register_vectors == steps && loads_ahead(plan, rows);
  rows.atomics = tuning.atomics.value_or(false) && rows.splits > 1;
  return shape;
}

}  // namespace tilejit::plan
