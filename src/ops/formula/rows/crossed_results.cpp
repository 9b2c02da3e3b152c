// Columns whose results lie in another order than their elements: which of them lanes side by side
// have.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "core/integer.hpp"
#include "device/access.hpp"
#include "device/scale.hpp"
#include "rows/column_shape.hpp"
#include "rows/crossed.hpp"
#include "rows/rows.hpp"

namespace tilejit::plan {
namespace {

using core::ceil_div;

constexpr std::int64_t kLeastAcross = 4;  // results side by side
constexpr std::int64_t kMostSide = 16;    // lanes along the innermost mode
constexpr std::int64_t kColumnsOfBlock = 256;
constexpr double kGain = 0.9;   // that another number of lanes is worth
constexpr double kOfStore = 2;  // a sector that is stored, in lines that lanes load

/// How the modes of the elements and of the results are cut.
struct Crossing {
  std::size_t across = 0;    ///< the mode along which results lie
  std::int64_t side = 1;     ///< vectors of the innermost mode, of lanes side by side
  std::int64_t of_run = 1;   ///< as many again of other warps make a sector
  std::int64_t results = 1;  ///< results of a block side by side
};

/// Lines and sectors that a warp accesses if `side` of its lanes lie side by side.
double cost_of(const Plan& plan, const Rows& rows, std::int64_t length, std::int64_t side) {
  const double across = static_cast<double>(kWarp) / static_cast<double>(side);
  double cost = 0;
  for (const Operand& operand : plan.operands) {
    if (operand.per_row) {
      const double sectors = across * size_bytes(operand.dtype) / device::kSectorBytes;
      cost += kOfStore * plan.vector * static_cast<double>(side) * std::max(1.0, sectors);
    } else if (varies_in_row(operand, rows)) {
      cost += static_cast<double>(length) * across;
    }
  }
  return cost;
}

/// The mode along which all results are contiguous, if they lie a sector apart where elements are
/// neighbours.
std::optional<std::size_t> mode_of_results(const Plan& plan, const Rows& rows) {
  std::optional<std::size_t> across;
  for (const Operand& operand : plan.operands) {
    if (!operand.written) continue;
    const OperandMode& along = operand.modes.front();
    if (!operand.per_row || !is_whole(along) ||
        along[0].stride.value() * size_bytes(operand.dtype) < device::kSectorBytes)
      return std::nullopt;
    std::size_t own = 1;
    while (own < rows.first &&
           !(is_whole(operand.modes[own]) && operand.modes[own][0].stride.is(1)))
      ++own;
    if (own == rows.first || (across && *across != own)) return std::nullopt;
    across = own;
  }
  return across;
}

/// The largest divisor of `extent` up to `most`, if it is at least `least`; else all of it.
std::int64_t part_of(std::int64_t extent, std::int64_t least, std::int64_t most) {
  for (std::int64_t part = std::min(extent, most); part >= least; --part) {
    if (extent % part == 0) return part;
  }
  return extent;
}

std::optional<Crossing> crossing_of(const Plan& plan, const Rows& rows) {
  if (rows.along() || rows.first < 2 || plan.peeled ||
      !std::ranges::all_of(plan.extents, &Dim::is_known) ||
      plan.extents[0].value() % plan.vector != 0)
    return std::nullopt;
  const std::int64_t length = *vectors_in_row(plan, rows), count = *vectors_across_rows(plan, rows);
  const auto across = mode_of_results(plan, rows);
  if (!across) return std::nullopt;
  const auto is_cut = [&](const auto& value) {
    return is_whole(value.modes.front()) && is_whole(value.modes[*across]);
  };
  if (length > kMostOfWhole || count * plan.vector < device::kThreadsAtOnce ||
      plan.extents[*across].value() < kLeastAcross ||
      std::ranges::any_of(plan.operands, &Operand::shifted) ||
      !std::ranges::all_of(plan.operands, is_cut) || !std::ranges::all_of(plan.places, is_cut))
    return std::nullopt;
  int bytes = 0;  // of an element
  for (const Operand& operand : plan.operands) {
    if (operand.read && operand.reach == Reach::contiguous && varies_in_row(operand, rows))
      bytes = std::max(bytes, size_bytes(operand.dtype));
  }
  if (bytes == 0) return std::nullopt;
  const std::int64_t vectors = plan.extents[0].value() / plan.vector;
  Crossing crossing{.across = *across};
  const auto try_side = [&](std::int64_t side) {
    if (vectors % side == 0 &&
        cost_of(plan, rows, length, side) < kGain * cost_of(plan, rows, length, crossing.side))
      crossing.side = side;
  };
  for (std::int64_t side = 2; side <= kMostSide; side *= 2) try_side(side);
  for (std::int64_t side = 3; side <= kMostSide; side += 2) try_side(side);
  if (cost_of(plan, rows, length, crossing.side) >= kGain * cost_of(plan, rows, length, kWarp))
    return std::nullopt;
  const std::int64_t wanted =
      ceil_div(std::int64_t{device::kSectorBytes}, crossing.side * plan.vector * bytes);
  const std::int64_t left = vectors / crossing.side;
  for (std::int64_t more = wanted; wanted > 1 && more <= 2 * wanted; ++more) {
    if (left % more != 0) continue;
    crossing.of_run = more;
    break;
  }
  const std::int64_t extent = plan.extents[*across].value();
  crossing.results = crossing.of_run == 1
                         ? extent
                         : part_of(extent, kWarp / crossing.side,
                                   kColumnsOfBlock / (crossing.side * crossing.of_run));
  return crossing;
}

}  // namespace

void cross_results(Plan& plan) {
  auto* const rows = std::get_if<Rows>(&plan.family);
  const auto crossing = rows == nullptr ? std::nullopt : crossing_of(plan, *rows);
  if (!crossing) return;
  // side, the rest of a run, the rest; results, the rest
  cut_mode(crossing->across, crossing->results, plan);
  cut_mode(0, crossing->side * plan.vector, plan);
  cut_mode(1, crossing->of_run, plan);
  rows->first += 3;
  move_mode(crossing->across + 2, 1, plan);
  // side, results, the rest of a run, the rest, ..., the rest of the results: these come next
  move_mode(crossing->across + 3, 3, plan);
  erase_single_modes(rows->first, plan, *rows);
}

}  // namespace tilejit::plan
