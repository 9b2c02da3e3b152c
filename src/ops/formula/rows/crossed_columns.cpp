// Columns that follow the output, beside an input whose sectors lie across many of them.
#include <algorithm>
#include <cstdlib>

#include "device/access.hpp"
#include "rows/row_shape.hpp"
#include "rows/rows.hpp"

namespace tilejit::plan {
namespace {

constexpr int kMostThreads = 512;  // of a block

}  // namespace

std::int64_t columns_of_sectors(const Plan& plan, const Rows& rows) {
  std::int64_t most = 0;
  for (const Operand& operand : plan.operands) {
    if (!operand.read || operand.reach != Reach::strided || !varies_in_row(operand, rows)) continue;
    const std::int64_t bytes = size_bytes(operand.dtype);
    std::int64_t inside = 1;
    for (std::size_t m = 0; m < rows.first && inside <= kMostThreads; ++m) {
      const OperandMode& mode = operand.modes[m];
      if (mode.size() != 1 || !mode[0].stride.is_known() || !plan.extents[m].is_known()) break;
      const std::int64_t apart = std::abs(mode[0].stride.value()) * bytes;
      if (m > 0 && apart > 0 && 2 * apart <= device::kSectorBytes)
        most = std::max(most,
                        inside * std::min(device::kSectorBytes / apart, plan.extents[m].value()));
      inside *= plan.extents[m].value();
    }
  }
  return most <= 2 * kMostThreads ? most : 0;
}

}  // namespace tilejit::plan
