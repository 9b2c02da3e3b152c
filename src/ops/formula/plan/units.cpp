// The units and blocks of which a plan's launch consists.
#include <concepts>
#include <cstdint>

#include "core/integer.hpp"
#include "plan/plan.hpp"
#include "rows/rows.hpp"
#include "sheared/shearing.hpp"

namespace tilejit::plan {

bool Several::operator==(const Several& other) const {
  return parts == other.parts && temporaries == other.temporaries;
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
  if (const auto* staged = std::get_if<StagedRows>(&plan.family)) return staged->direction;
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

std::span<const Plan> parts_of(const Plan& plan) noexcept {
  const auto* const several = std::get_if<Several>(&plan.family);
  return several == nullptr ? std::span<const Plan>() : several->parts;
}

std::string_view template_name(const Plan& plan) noexcept {
  return std::visit([]<class F>(const F&) { return F::kTemplate; }, plan.family);
}

Dim counted_extent(const Plan& plan, std::size_t m) {
  if (m != 0 || !plan.peeled || plan.extents[0].is(0)) return plan.extents[m];
  const bool sheared =
      std::holds_alternative<Sheared>(plan.family) || std::holds_alternative<Box>(plan.family);
  return plan.extents[0].value() + (sheared ? shear_of(plan) : plan.vector) - 1;
}

bool counts_units(const Plan& plan) noexcept {
  return std::visit([]<class F>(const F&) { return F::kCountsUnits; }, plan.family);
}

std::int64_t unit_extent(const Plan& plan, std::size_t m) noexcept {
  return std::visit([&](const auto& family) { return family.unit_extent(plan, m); }, plan.family);
}

std::int64_t units_per_block(const Plan& plan) noexcept {
  return std::visit([&](const auto& family) { return family.units_per_block(plan); }, plan.family);
}

std::int64_t blocks_per_unit(const Plan& plan) noexcept {
  if (const auto* wgmma = std::get_if<MatmulWgmma>(&plan.family)) return wgmma->blocks_of_cluster();
  if (const Matmul* const product = matmul_of(plan)) return product->splits;
  const Rows* const rows = rows_of(plan);
  return rows == nullptr ? 1 : std::int64_t{rows->cluster} * rows->splits;
}

int dynamic_shared_bytes(const Plan& plan) {
  if (const auto* wgmma = std::get_if<MatmulWgmma>(&plan.family)) return shared_bytes(*wgmma);
  if (const auto* attention = std::get_if<AttentionWgmma>(&plan.family))
    return attention_shared_bytes(*attention);
  if (const auto* attention = std::get_if<AttentionMma>(&plan.family))
    return attention_shared_bytes(*attention);
  if (const Matmul* const product = matmul_of(plan)) {
    return shared_bytes(*product, std::holds_alternative<MatmulMma>(plan.family));
  }
  if (const auto* staged = std::get_if<StagedRows>(&plan.family))
    return is_static(plan, *staged) ? 0 : static_cast<int>(staged_bytes(plan, *staged));
  if (const auto* strips = std::get_if<Strips>(&plan.family))
    return static_cast<int>(strip_bytes(plan, *strips));
  const Rows* const rows = rows_of(plan);
  return rows != nullptr && rows->ahead ? shared_bytes_ahead(plan, *rows) : 0;
}

std::int64_t total_units(const Plan& plan) {
  Dim total = 1;
  for (std::size_t m = 0; m < plan.extents.size(); ++m) {
    const std::int64_t per = unit_extent(plan, m);
    if (per == 0) continue;  // a unit has all of it, known or not
    total = total * Dim(core::ceil_div(counted_extent(plan, m).value(), per));
  }
  return total.value();
}

}  // namespace tilejit::plan
