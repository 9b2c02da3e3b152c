// The units and blocks of which a plan's launch consists.
#include <concepts>
#include <cstdint>

#include "core/integer.hpp"
#include "plan/plan.hpp"
#include "plan/rows.hpp"
#include "plan/thread_value.hpp"

namespace tilejit::plan {
namespace {

/// Elements of a unit along mode `m`, and units per block, for each family.
struct Units {
  const Plan& plan;

  [[nodiscard]] std::int64_t extent(const Map&, std::size_t m) const {
    return m == 0 ? plan.vector : 1;
  }
  [[nodiscard]] std::int64_t of_block(const Map&) const {
    return std::int64_t{plan.threads} * plan.unroll;
  }

  [[nodiscard]] std::int64_t extent(const Tile& tile, std::size_t m) const {
    if (m == 0) return tile.columns;
    return m == tile.mode ? tile.rows : 1;
  }
  [[nodiscard]] std::int64_t of_block(const Tile&) const { return 1; }

  [[nodiscard]] std::int64_t extent(const Rows& rows, std::size_t m) const {
    if (rows.reduces(m)) return 0;
    return m == 0 ? plan.vector : 1;
  }
  [[nodiscard]] std::int64_t of_block(const Rows& rows) const { return plan.threads / rows.lanes; }

  [[nodiscard]] std::int64_t extent(const ThreadValue& tv, std::size_t m) const {
    return tile_extent(tv, m);
  }
  [[nodiscard]] std::int64_t of_block(const ThreadValue&) const { return 1; }

  // Each stage has its own.
  [[nodiscard]] std::int64_t extent(const Several&, std::size_t) const { return 0; }
  [[nodiscard]] std::int64_t of_block(const Several&) const { return 1; }
};

}  // namespace

bool Several::operator==(const Several& other) const {
  return stages == other.stages && temporaries == other.temporaries;
}

const Rows* rows_of(const Plan& plan) noexcept {
  const auto shared = []<class F>(const F& family) -> const Rows* {
    if constexpr (std::derived_from<F, Rows>) {
      return &family;
    } else {
      return nullptr;
    }
  };
  return std::visit(shared, plan.family);
}

std::optional<Direction> direction_of(const Plan& plan) noexcept {
  if (const auto* scan = std::get_if<Scan>(&plan.family)) return scan->direction;
  if (const auto* light = std::get_if<Light>(&plan.family)) return light->direction;
  return std::nullopt;
}

IndexWidth index_of(const Plan& plan) noexcept {
  const auto* const map = std::get_if<Map>(&plan.family);
  return map == nullptr ? IndexWidth::narrow : map->index;
}

bool is_light(const Plan& plan) noexcept {
  const auto* const map = std::get_if<Map>(&plan.family);
  return map != nullptr ? map->light : std::holds_alternative<Light>(plan.family);
}

std::span<const Plan> stages_of(const Plan& plan) noexcept {
  const auto* const several = std::get_if<Several>(&plan.family);
  return several == nullptr ? std::span<const Plan>() : several->stages;
}

std::string_view template_name(const Plan& plan) noexcept {
  return std::visit([]<class F>(const F&) { return F::kTemplate; }, plan.family);
}

std::int64_t unit_extent(const Plan& plan, std::size_t m) noexcept {
  return std::visit([&](const auto& family) { return Units{plan}.extent(family, m); }, plan.family);
}

std::int64_t units_per_block(const Plan& plan) noexcept {
  return std::visit([&](const auto& family) { return Units{plan}.of_block(family); }, plan.family);
}

std::int64_t blocks_per_unit(const Plan& plan) noexcept {
  const Rows* const rows = rows_of(plan);
  return rows == nullptr ? 1 : std::int64_t{rows->cluster} * rows->shares;
}

std::int64_t partials_bytes(const Plan& plan) {
  const Rows* const rows = rows_of(plan);
  if (rows == nullptr || rows->shares == 1) return 0;
  const std::int64_t across = rows->along() ? 1 : plan.vector;
  return counters_bytes(plan) +
         total_units(plan, {}) * across * rows->shares *
             accumulator_bytes(plan, direction_of(plan) ? expr::is_scan : expr::is_reduction);
}

std::int64_t counters_bytes(const Plan& plan) {
  const Rows* const rows = rows_of(plan);
  if (rows == nullptr || !rows->atomics) return 0;
  constexpr std::int64_t kCounterBytes = 4, kAlignment = 16;  // accumulators follow
  const std::int64_t counters = core::ceil_div(total_units(plan, {}), units_per_block(plan));
  return core::ceil_div(counters * kCounterBytes, kAlignment) * kAlignment;
}

std::int64_t combining_blocks(const Plan& plan) {
  const std::int64_t units = total_units(plan, {});
  if (const auto* scan = std::get_if<Scan>(&plan.family)) {
    return core::ceil_div(units, units_per_block(plan)) * scan->shares;
  }
  return core::ceil_div(units, std::int64_t{combining_threads(plan) / combiners(plan)});
}

int combining_threads(const Plan& plan) noexcept {
  // Each thread has few results to combine, and a block of 1024 threads would find room later.
  constexpr int kManyThreads = 512;
  const auto* const rows = std::get_if<Rows>(&plan.family);
  const bool alone = rows != nullptr && !rows->atomics && rows->shares > kWarp;
  return alone ? kManyThreads : plan.threads;
}

int dynamic_shared_bytes(const Plan& plan) {
  const Rows* const rows = rows_of(plan);
  return rows != nullptr && rows->ahead ? shared_bytes_ahead(plan, *rows) : 0;
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
