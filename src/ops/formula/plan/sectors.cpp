#include "plan/sectors.hpp"

#include <algorithm>
#include <numeric>

#include "box/walks.hpp"
#include "core/integer.hpp"
#include "device/access.hpp"
#include "device/scale.hpp"

namespace tilejit::plan {

bool cuts_sectors(const Plan& plan, const Operand& operand) {
  const std::int64_t bytes = size_bytes(operand.dtype);
  Dim all = bytes;
  bool cuts = false;
  for (std::size_t m = 0; m < operand.modes.size(); ++m) {
    const Dim& stride = operand.modes[m][0].stride;
    if (operand.modes[m].size() != 1 || !stride.is_known() || !plan.extents[m].is_known())
      return false;
    all = all * plan.extents[m];
    cuts = cuts || (m > 0 && stride.value() * bytes % device::kSectorBytes != 0);
  }
  return cuts && all.value() >= device::kBytesOfCache;
}

double meetings_per_element(const Operand& operand, const std::vector<Dim>& extents,
                            const std::vector<std::int64_t>& block, std::int64_t piece_bytes) {
  const std::int64_t bytes = size_bytes(operand.dtype);
  std::int64_t run = 1, following = 1, unit = piece_bytes;  // runs begin at its multiples
  bool goes_on = true;
  for (const std::size_t m : order_of(operand)) {
    if (extents[m].is(1)) continue;
    const std::int64_t stride = stride_of(operand, m);
    goes_on = goes_on && stride == following;
    if (goes_on) run *= block[m];
    const bool whole = goes_on && block[m] >= extents[m].value();
    if (!whole) unit = std::gcd(unit, (goes_on ? block[m] : 1) * stride * bytes);
    goes_on = whole;
    following *= extents[m].value();
  }
  return (1 - static_cast<double>(unit) / static_cast<double>(piece_bytes)) /
         static_cast<double>(run);
}

double cuts_per_element(const Operand& operand, const std::vector<Dim>& extents,
                        const std::vector<std::int64_t>& block) {
  const std::int64_t bytes = size_bytes(operand.dtype);
  double blocks = 1, elements = 1;  // of a sector
  for (const std::size_t m : order_of(operand)) {
    const std::int64_t stride = stride_of(operand, m);
    if (stride * bytes >= device::kSectorBytes) break;
    const double within =
        std::min(static_cast<double>(extents[m].value()),
                 static_cast<double>(device::kSectorBytes) / static_cast<double>(stride * bytes));
    elements *= within;
    blocks *= std::max(1.0, within / static_cast<double>(block[m]));
  }
  return (blocks - 1) / elements;
}

double bytes_of_element(const Operand& operand, const std::vector<Dim>& extents,
                        const std::vector<std::int64_t>& block) {
  const double bytes = size_bytes(operand.dtype), sector = device::kSectorBytes;
  const auto is_plain = [](const OperandMode& mode) {
    return mode.size() == 1 && mode[0].stride.is_known();
  };
  if (!std::ranges::all_of(operand.modes, is_plain)) return bytes;
  std::int64_t run = 1, following = 1;
  double next = sector;  // bytes to the next run of the block
  for (const std::size_t m : order_of(operand)) {
    if (block[m] == 1) continue;
    const std::int64_t stride = stride_of(operand, m);
    if (stride != following) {
      next = std::min(sector, static_cast<double>(stride) * bytes);
      break;
    }
    run *= block[m];
    if (block[m] < extents[m].value()) break;
    following *= extents[m].value();
  }
  return std::max(bytes, next / static_cast<double>(run));
}

double bytes_in_units(Steps steps, std::int64_t bytes, std::int64_t unit) {
  std::ranges::sort(steps);
  std::int64_t run = 1;
  auto next = steps.begin();
  for (; next != steps.end() && next->first <= run; ++next) {
    run = next->first == run ? run * next->second : next->first * (next->second - 1) + run;
  }
  if (next == steps.end()) return static_cast<double>(bytes);
  // Runs begin at multiples of `step` bytes.
  const std::int64_t length = run * bytes, pitch = next->first * bytes,
                     step = std::gcd(pitch, unit);
  const std::int64_t touched = core::ceil_div(length, step) * step + unit - step;
  return static_cast<double>(std::min(pitch, touched)) / static_cast<double>(run);
}

std::int64_t strip_of(const Plan& plan) {
  if (const auto* const tile = std::get_if<Tile>(&plan.family)) return tile->columns;
  if (const auto* const box = std::get_if<Box>(&plan.family)) return box->extents.front();
  if (const auto* const staged = std::get_if<StagedRows>(&plan.family))
    return staged->side > 0 ? staged->columns : 0;
  if (const auto* const strips = std::get_if<Strips>(&plan.family)) return strips->columns;
  const Rows* const rows = rows_of(plan);
  if (rows == nullptr || rows->along() || is_light(plan)) return 0;
  return std::int64_t{plan.threads / rows->row_threads} * plan.vector;
}

}  // namespace tilejit::plan
