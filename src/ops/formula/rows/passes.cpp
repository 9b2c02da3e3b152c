// Whether columns that a kernel would hold in strips narrower than sectors are better read again,
// by kernels of one pass each.
#include <algorithm>

#include "device/access.hpp"
#include "plan/sectors.hpp"
#include "rows/row_shape.hpp"
#include "rows/rows.hpp"

namespace tilejit::plan {
namespace {

constexpr double kBytesOfCache = 24 << 20;  // half an L2 cache
// A further kernel's reads and stores come in whole sectors, but not always at a copy's speed: with
// whole sectors, too, two kernels took up to twice as long as one that holds columns.
constexpr double kGainOfPasses = 4;

/// The stride along mode m, at most a sector; a sector if it is not known.
std::int64_t step_bytes(const Operand& operand, std::size_t m) {
  const OperandMode& mode = operand.modes[m];
  const std::int64_t bytes = size_bytes(operand.dtype);
  if (mode.size() != 1 || !mode[0].stride.is_known()) return device::kSectorBytes;
  return std::clamp<std::int64_t>(mode[0].stride.value() * bytes, bytes, device::kSectorBytes);
}

/// Columns that follow one another as those of the innermost mode do.
std::int64_t columns_in_sequence(const Plan& plan, const Rows& rows, const Operand& operand) {
  Dim columns = plan.extents[0];
  for (std::size_t m = 1; m < rows.first; ++m) {
    const OperandMode &first = operand.modes[0], &next = operand.modes[m];
    if (first.size() != 1 || next.size() != 1 || next[0].stride != columns * first[0].stride) break;
    columns = columns * plan.extents[m];
  }
  return columns.value();
}

/// Bytes that threads access for each element, in sectors, if `strip` columns lie side by side.
double bytes_of_element(const Plan& plan, const Rows& rows, const Operand& operand,
                        std::int64_t strip) {
  const std::int64_t along = step_bytes(operand, rows.first), across = step_bytes(operand, 0);
  if (across == device::kSectorBytes) return static_cast<double>(along);
  const std::int64_t own = std::min(strip, columns_in_sequence(plan, rows, operand));
  return std::max(static_cast<double>(across),
                  static_cast<double>(along) / static_cast<double>(own));
}

}  // namespace

bool cuts_held_sectors(const Plan& plan) {
  const auto* const rows = std::get_if<Rows>(&plan.family);
  if (rows == nullptr || rows->along() || rows->count != 1 || rows->register_vectors == 0 ||
      is_one_pass(plan) || !std::ranges::all_of(plan.extents, &Dim::is_known))
    return false;
  // Strips that are as wide as sectors lie across.
  if (columns_of_sectors(plan, *rows) > kWarp) return false;
  double elements = 1, held = 0, read = 0, written = 0;
  for (const Dim& extent : plan.extents) elements *= static_cast<double>(extent.value());
  for (const Operand& operand : plan.operands) {
    if (!spans_space(operand, *rows)) continue;
    const double bytes = elements * size_bytes(operand.dtype);
    held += elements * bytes_of_element(plan, *rows, operand, strip_of(plan));
    (operand.written ? written : read) += bytes;
  }
  const std::vector<int> passes = expr::passes_before(plan.program, joined_sums(plan));
  const double apart = std::ranges::max(passes) * read + (written > 0 ? read + written : 0);
  return apart >= kBytesOfCache && held >= kGainOfPasses * apart;
}

}  // namespace tilejit::plan
