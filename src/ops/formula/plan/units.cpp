// What a launch of a plan consists of.
#include <cstdint>

#include "core/integer.hpp"
#include "plan/plan.hpp"
#include "plan/rows.hpp"
#include "plan/thread_value.hpp"

namespace tilejit::plan {

std::string_view template_name(const Plan& plan) noexcept {
  if (!plan.stages.empty()) return "fused_stages";
  if (plan.tv) return "fused_tv";
  if (plan.light && plan.rows) return "fused_light";
  if (plan.scan) return "fused_scan";
  return plan.rows ? "fused_rows" : plan.tile ? "fused_tile" : "fused_map";
}

std::int64_t unit_extent(const Plan& plan, std::size_t m) noexcept {
  if (!plan.stages.empty()) return 0;  // a launch has its own of each
  if (plan.tv) return tile_extent(*plan.tv, m);
  if (plan.rows && plan.rows->reduces(m)) return 0;
  if (!plan.tile) return m == 0 ? plan.vector : 1;
  if (m == 0) return plan.tile->columns;
  return m == plan.tile->mode ? plan.tile->rows : 1;
}

std::int64_t units_per_block(const Plan& plan) noexcept {
  if (plan.rows) return plan.threads / plan.rows->lanes;
  return plan.tile || plan.tv ? 1 : std::int64_t{plan.threads} * plan.unroll;
}

std::int64_t blocks_per_unit(const Plan& plan) noexcept {
  return plan.rows ? std::int64_t{plan.rows->cluster} * plan.rows->shares : 1;
}

std::int64_t partials_bytes(const Plan& plan) {
  if (!plan.rows || plan.rows->shares == 1) return 0;
  const std::int64_t across = plan.rows->along() ? 1 : plan.vector;
  return counters_bytes(plan) +
         total_units(plan, {}) * across * plan.rows->shares *
             accumulator_bytes(plan, plan.scan ? expr::is_scan : expr::is_reduction);
}

std::int64_t counters_bytes(const Plan& plan) {
  if (!plan.rows || !plan.rows->atomics) return 0;
  constexpr std::int64_t kCounterBytes = 4, kAlignment = 16;  // that of accumulators
  const std::int64_t counters = core::ceil_div(total_units(plan, {}), units_per_block(plan));
  return core::ceil_div(counters * kCounterBytes, kAlignment) * kAlignment;
}

std::int64_t combining_blocks(const Plan& plan) {
  const std::int64_t units = total_units(plan, {});
  const std::int64_t per_block =
      plan.scan ? units_per_block(plan) : combining_threads(plan) / combiners(plan);
  const std::int64_t blocks = core::ceil_div(units, per_block);
  return plan.scan ? blocks * plan.rows->shares : blocks;
}

int combining_threads(const Plan& plan) noexcept {
  constexpr int kManyThreads = 512;  // each has few results to combine; 1024 find room later
  const bool alone = !plan.scan && !plan.rows->atomics && plan.rows->shares > kWarp;
  return alone ? kManyThreads : plan.threads;
}

int dynamic_shared_bytes(const Plan& plan) {
  return plan.rows && plan.rows->ahead ? shared_bytes_ahead(plan, *plan.rows) : 0;
}

std::int64_t total_units(const Plan& plan, const SymbolValues& symbols) {
  Dim total = 1;
  for (std::size_t m = 0; m < plan.extents.size(); ++m) {
    const std::int64_t extent = plan.extents[m].evaluate(symbols), per = unit_extent(plan, m);
    if (per != 0) total = total * Dim(core::ceil_div(extent, per));
  }
  return total.value();
}

}  // namespace tilejit::plan
