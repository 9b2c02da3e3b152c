// What blocks that share rows leave in memory, and the kernel that combines it.
#include <cstdint>

#include "core/integer.hpp"
#include "plan/plan.hpp"
#include "rows/rows.hpp"

namespace tilejit::plan {

std::int64_t partials_bytes(const Plan& plan) {
  const Rows* const rows = rows_of(plan);
  if (rows == nullptr || rows->splits == 1) return 0;
  const std::int64_t across = rows->along() ? 1 : plan.vector;
  return counters_bytes(plan) +
         total_units(plan) * across * rows->splits *
             accumulator_bytes(plan, direction_of(plan) ? expr::is_scan : expr::is_reduction);
}

std::int64_t counters_bytes(const Plan& plan) {
  const Rows* const rows = rows_of(plan);
  if (rows == nullptr || !rows->atomics) return 0;
  constexpr std::int64_t kCounterBytes = 4, kAlignment = 16;  // accumulators follow
  const std::int64_t counters = core::ceil_div(total_units(plan), units_per_block(plan));
  return core::ceil_div(counters * kCounterBytes, kAlignment) * kAlignment;
}

std::int64_t combining_blocks(const Plan& plan) {
  const std::int64_t units = total_units(plan);
  if (const auto* scan = std::get_if<Scan>(&plan.family)) {
    return core::ceil_div(units, units_per_block(plan)) * scan->splits;
  }
  return core::ceil_div(units, std::int64_t{combining_threads(plan) / combiners(plan)});
}

int combining_threads(const Plan& plan) noexcept {
  // Each thread has few results to combine, and a block of 1024 threads would find room later.
  constexpr int kManyThreads = 512;
  const auto* const rows = std::get_if<Rows>(&plan.family);
  const bool alone = rows != nullptr && !rows->atomics && rows->splits > kWarp;
  return alone ? kManyThreads : plan.threads;
}

}  // namespace tilejit::plan
