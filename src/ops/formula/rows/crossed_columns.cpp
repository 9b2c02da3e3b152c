// Columns that follow the output, beside an input whose sectors lie across many of them.
#include <algorithm>
#include <cstdlib>
#include <optional>

#include "core/integer.hpp"
#include "device/access.hpp"
#include "device/scale.hpp"
#include "rows/column_shape.hpp"
#include "rows/crossed.hpp"
#include "rows/row_shape.hpp"
#include "rows/rows.hpp"

namespace tilejit::plan {
namespace {

constexpr int kMostThreads = 512;        // of a block
constexpr std::int64_t kLeastInner = 4;  // neighbours of the input
constexpr std::int64_t kMostInner = 16;  // so many are not cut
constexpr std::int64_t kMostColumns = 512;
constexpr std::int64_t kMostHeld = 40;  // elements of a thread

/// How columns are cut: all modes before `last`, `side` elements of that one, and `inner` of mode
/// `across`.
struct Cut {
  std::size_t last = 0, across = 0;
  std::int64_t side = 1, inner = 1;
};

/// The largest divisor of `extent` among `least` to `most`, of those that make whole sectors of
/// runs of `bytes` if there are any; or 0.
std::int64_t part_of(std::int64_t extent, std::int64_t least, std::int64_t most,
                     std::int64_t bytes) {
  std::int64_t largest = 0;
  for (std::int64_t part = std::min(extent, most); part >= least; --part) {
    if (extent % part != 0) continue;
    if (part * bytes % device::kSectorBytes == 0) return part;
    largest = std::max(largest, part);
  }
  return largest;
}

/// The kept mode along which the input is contiguous, if neighbours of the output lie a sector or
/// more apart in it, and its sectors do not lie along the columns; else 0.
std::size_t mode_of_input(const Plan& plan, const Rows& rows, const Operand& operand) {
  const std::int64_t bytes = size_bytes(operand.dtype);
  if (!operand.read || operand.written || operand.reach != Reach::strided ||
      !varies_in_row(operand, rows) || !is_whole(operand.modes[0]) ||
      operand.modes[0][0].stride.value() * bytes < device::kSectorBytes ||
      !is_whole(operand.modes[rows.first]) ||
      2 * operand.modes[rows.first][0].stride.value() * bytes <= device::kSectorBytes)
    return 0;
  for (std::size_t m = 1; m < rows.first; ++m) {
    if (is_whole(operand.modes[m]) && operand.modes[m][0].stride.is(1) &&
        plan.extents[m].value() >= kLeastInner)
      return m;
  }
  return 0;
}

/// The cut with `wanted` bytes of the output side by side.
std::optional<Cut> cut_of(const Plan& plan, std::size_t across, std::int64_t wanted,
                          std::int64_t bytes_out, std::int64_t bytes_in) {
  Cut cut{.across = across};
  const std::int64_t least = device::kSectorBytes / bytes_out, most = wanted / bytes_out;
  std::int64_t inside = 1;
  for (; cut.last < across; ++cut.last) {
    const std::int64_t extent = plan.extents[cut.last].value();
    if (inside * extent >= least) {
      const std::int64_t unit = cut.last == 0 ? plan.vector : 1;
      const std::int64_t run = inside * unit, few = core::ceil_div(least, run);
      const std::int64_t many = std::max(most / run, few);
      const auto part = [&](std::int64_t end) {
        return part_of(extent / unit, few, end, run * bytes_out);
      };
      const std::int64_t side = part(many);
      const bool whole = side > 0 && side * run * bytes_out % device::kSectorBytes == 0;
      cut.side = unit * (whole ? side : part(2 * many));
      break;
    }
    inside *= extent;
  }
  const std::int64_t extent = plan.extents[across].value();
  const std::int64_t sector = device::kSectorBytes / bytes_in;
  cut.inner = extent <= kMostInner ? extent : part_of(extent, sector, sector, bytes_in);
  if (cut.last == across || cut.side == 0 || cut.inner == 0 ||
      plan.extents[0].value() % plan.vector != 0)
    return std::nullopt;
  return cut;
}

std::optional<Cut> cut_of(const Plan& plan, const Rows& rows) {
  if (rows.along() || rows.count != 1 || rows.first < 2 || plan.peeled || is_one_pass(plan) ||
      plan.target.major < 9 || !std::ranges::all_of(plan.extents, &Dim::is_known) ||
      std::ranges::any_of(plan.operands, &Operand::shifted))
    return std::nullopt;
  const std::int64_t length = plan.extents[rows.first].value();
  const std::int64_t most = most_of_thread(plan, rows, length);
  if (most < 1) return std::nullopt;
  const std::int64_t sharing = core::power_of_two_from(core::ceil_div(length, most));
  if (core::ceil_div(length, sharing) * plan.vector > kMostHeld) return std::nullopt;
  const std::int64_t uncut = columns_of_sectors(plan, rows);
  if (uncut > kWarp && uncut / plan.vector * sharing <= kMostThreads) return std::nullopt;
  std::size_t across = 0;
  std::int64_t bytes_in = 1, bytes_out = 1;
  for (const Operand& operand : plan.operands) {
    if (operand.written && !operand.per_row) {
      if (operand.reach != Reach::contiguous) return std::nullopt;
      bytes_out = std::max<std::int64_t>(bytes_out, size_bytes(operand.dtype));
    }
    const std::size_t own = mode_of_input(plan, rows, operand);
    if (own == 0) continue;
    if (across != 0 && own != across) return std::nullopt;
    across = own;
    bytes_in = size_bytes(operand.dtype);
  }
  if (across == 0) return std::nullopt;
  const auto is_cut = [&](const auto& value) {
    return std::ranges::all_of(value.modes,
                               [](const OperandMode& mode) { return mode.size() == 1; });
  };
  if (!std::ranges::all_of(plan.operands, is_cut) || !std::ranges::all_of(plan.places, is_cut))
    return std::nullopt;
  for (std::int64_t wanted = device::kLineBytes; wanted >= device::kSectorBytes; wanted /= 2) {
    const auto cut = cut_of(plan, across, wanted, bytes_out, bytes_in);
    if (!cut) continue;
    std::int64_t columns = cut->side * cut->inner;
    for (std::size_t m = 0; m < cut->last; ++m) columns *= plan.extents[m].value();
    const std::int64_t blocks = wanted == device::kSectorBytes ? device::kMaxCluster : 2;
    if (columns <= kMostColumns && columns / plan.vector * sharing <= blocks * kMostThreads)
      return cut;
  }
  return std::nullopt;
}

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

bool has_crossed_columns(const Plan& plan, const Rows& rows) {
  // All kept modes are otherwise sorted by the output's strides.
  return std::ranges::any_of(plan.operands, [&](const Operand& operand) {
    if (!operand.written || operand.per_row || operand.reach != Reach::contiguous) return false;
    std::int64_t least = 0;
    for (std::size_t m = 0; m < rows.first; ++m) {
      if (!is_whole(operand.modes[m])) return false;
      const std::int64_t stride = operand.modes[m][0].stride.value();
      if (stride < least) return true;
      least = stride;
    }
    return false;
  });
}

void cross_columns(Plan& plan) {
  auto* const rows = std::get_if<Rows>(&plan.family);
  const auto cut = rows == nullptr ? std::nullopt : cut_of(plan, *rows);
  if (!cut) return;
  cut_mode(cut->across, cut->inner, plan);
  cut_mode(cut->last, cut->side, plan);
  rows->first += 2;
  move_mode(cut->across + 1, cut->last + 1, plan);
  erase_single_modes(rows->first, plan, *rows);
}

}  // namespace tilejit::plan
