#include "plan/sectors.hpp"

namespace tilejit::plan {
namespace {

constexpr std::int64_t kSectorBytes = 32;
constexpr std::int64_t kBytesOfCache = std::int64_t{24} << 20;  // half an L2 cache

}  // namespace

bool cuts_sectors(const Plan& plan, const Operand& operand) {
  const std::int64_t bytes = size_bytes(operand.dtype);
  Dim all = bytes;
  bool cuts = false;
  for (std::size_t m = 0; m < operand.modes.size(); ++m) {
    const Dim& stride = operand.modes[m][0].stride;
    if (operand.modes[m].size() != 1 || !stride.is_known() || !plan.extents[m].is_known())
      return false;
    all = all * plan.extents[m];
    cuts = cuts || (m > 0 && stride.value() * bytes % kSectorBytes != 0);
  }
  return cuts && all.value() >= kBytesOfCache;
}

std::int64_t strip_of(const Plan& plan) {
  if (const auto* const tile = std::get_if<Tile>(&plan.family)) return tile->columns;
  if (const auto* const box = std::get_if<Box>(&plan.family)) return box->extents.front();
  const Rows* const rows = rows_of(plan);
  if (rows == nullptr || rows->along() || is_light(plan)) return 0;
  return std::int64_t{plan.threads / rows->row_threads} * plan.vector;
}

}  // namespace tilejit::plan
