// Whether rows that a kernel would hold while it accesses only parts of sectors are better read
// again, by kernels of one pass each.
#include <algorithm>
#include <optional>
#include <vector>

#include "device/access.hpp"
#include "device/scale.hpp"
#include "plan/sectors.hpp"
#include "rows/row_shape.hpp"
#include "rows/rows.hpp"

namespace tilejit::plan {
namespace {

// A further kernel's reads and stores come in whole sectors, but not always at a copy's speed: with
// whole sectors, too, two kernels took up to twice as long as one that holds columns.
constexpr double kGainOfPasses = 4;
// Of rows along which vectors lie: bytes in a microsecond of kernels of one pass each, and of
// sectors that warps access in parts.
constexpr double kBytesOfUs = 2.5e6, kCutBytesOfUs = 1.6e6, kGainAlong = 1.5;
constexpr double kLeastCutAlong = 2;  // times the bytes that kernels of one pass access

/// What a block of columns has at a time, or a warp of rows: its rows, and some side by side.
std::vector<std::int64_t> block_of_rows(const Plan& plan, const Rows& rows) {
  const std::int64_t groups = plan.threads / rows.row_threads;
  std::int64_t side = !rows.along()  ? groups * plan.vector
                      : rows.abreast ? std::min<std::int64_t>(groups, kWarp)
                                     : std::max(1, kWarp / rows.row_threads);
  std::vector<std::int64_t> block;
  for (std::size_t m = 0; m < plan.extents.size(); ++m) {
    const std::int64_t extent = plan.extents[m].value();
    block.push_back(rows.reduces(m) ? extent : std::min(side, extent));
    if (!rows.reduces(m))
      side = std::max<std::int64_t>(1, side / std::max<std::int64_t>(1, extent));
  }
  return block;
}

}  // namespace

std::optional<SpaceBytes> space_bytes(const Plan& plan, const Rows& rows) {
  if (!std::ranges::all_of(plan.extents, &Dim::is_known)) return std::nullopt;
  const std::vector<std::int64_t> block = block_of_rows(plan, rows);
  std::vector<std::int64_t> all;
  double elements = 1;
  for (const Dim& extent : plan.extents) {
    elements *= static_cast<double>(extent.value());
    all.push_back(extent.value());
  }
  SpaceBytes bytes;
  for (const Operand& operand : plan.operands) {
    if (!spans_space(operand, rows)) continue;
    (operand.written ? bytes.written : bytes.read) +=
        elements * bytes_of_element(operand, plan.extents, block);
    (operand.written ? bytes.written_once : bytes.read_once) +=
        elements * bytes_of_element(operand, plan.extents, all);
  }
  return bytes;
}

bool cuts_held_sectors(const Plan& plan) {
  const auto* const rows = std::get_if<Rows>(&plan.family);
  const bool held = rows != nullptr && rows->register_vectors > 0;
  if (rows == nullptr || (!rows->along() && (rows->count != 1 || !held)) || is_one_pass(plan))
    return false;
  // Strips that are as wide as sectors lie across.
  if (!rows->along() && columns_of_sectors(plan, *rows) > kWarp) return false;
  const auto bytes = space_bytes(plan, *rows);
  if (!bytes) return false;
  const int passes = std::ranges::max(expr::passes_before(plan.program, joined_sums_apart(plan))) +
                     (bytes->written > 0 ? 1 : 0);
  const double together = (held ? 1 : passes) * bytes->read + bytes->written;
  const double apart = passes * bytes->read_once + bytes->written_once;
  if (rows->along()) {
    return together >= kLeastCutAlong * apart &&
           together / kCutBytesOfUs >= kGainAlong * (device::kKernelUs + apart / kBytesOfUs);
  }
  return apart >= static_cast<double>(device::kBytesOfCache) && together >= kGainOfPasses * apart;
}

}  // namespace tilejit::plan
