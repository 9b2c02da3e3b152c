#include "staged/direct.hpp"

#include <algorithm>
#include <vector>

#include "device/access.hpp"
#include "device/scale.hpp"
#include "plan/sectors.hpp"
#include "rows/rows.hpp"
#include "staged/runs.hpp"

namespace tilejit::plan {
namespace {

constexpr double kMostOfWhole = 1.5;  // bytes of sectors, of lanes that store whole ones
constexpr double kGainOfOrder = 0.7;  // of accesses that another order of rows would cost

/// `rows` neighbouring rows, of which each has `length` elements.
std::vector<std::int64_t> rows_of_box(const Plan& plan, std::int64_t length, std::int64_t rows) {
  std::vector<std::int64_t> box(plan.extents.size(), 1);
  box[0] = std::min(length, plan.extents[0].value());
  for (std::size_t m = 1; m < plan.extents.size(); ++m) {
    box[m] = plan.extents[m].is_known() ? std::min(rows, plan.extents[m].value()) : rows;
    rows = std::max<std::int64_t>(1, rows / box[m]);
  }
  return box;
}

double elements_of(const Plan& plan) {
  double elements = 1;
  for (const Dim& extent : plan.extents) elements *= static_cast<double>(extent.value());
  return elements;
}

/// Microseconds in which threads access what has an element for each element of the space and does
/// not come as a run: parts of sectors that lanes store, and the sectors that a block reads.
double direct_us(const Plan& plan, const StagedRows& staged) {
  const int threads = staged.row_threads;
  const auto block = rows_of_box(plan, plan.extents[0].value(), staged.units_per_block(plan));
  const double elements = elements_of(plan);
  double us = 0;
  for (const Operand& operand : plan.operands) {
    if (!spans_space(operand, staged) || staged_pitch(plan, operand)) continue;
    const std::int64_t access = std::max(1, operand.access_bytes / size_bytes(operand.dtype));
    const auto warp = rows_of_box(plan, threads * access, kWarp / threads);
    const double bytes =
        elements * bytes_of_element(operand, plan.extents, operand.written ? warp : block);
    const bool whole = bytes < kMostOfWhole * elements * size_bytes(operand.dtype);
    us += operand.written && !whole ? bytes / device::kSectorBytes / device::kPartsOfUs
                                    : bytes / device::kBytesOfUs;
  }
  return us;
}

/// Microseconds in which memory moves what has an element for each element of the space.
double bytes_us(const Plan& plan, const Rows& rows) {
  int bytes = 0;
  for (const Operand& operand : plan.operands) {
    if (spans_space(operand, rows)) bytes += size_bytes(operand.dtype);
  }
  return elements_of(plan) * bytes / device::kBytesOfUs;
}

/// The plan's family, if it stages rows of known extents that are reduced.
const StagedRows* staged_of(const Plan& plan) {
  const auto* const staged = std::get_if<StagedRows>(&plan.family);
  const bool suits = staged != nullptr && staged->columns == 1 && !staged->direction &&
                     std::ranges::all_of(plan.extents, &Dim::is_known);
  return suits ? staged : nullptr;
}

}  // namespace

bool is_direct(const Plan& plan, const Rows& rows, const Operand& operand) {
  return operand.read && varies_across_rows(operand, rows) && !shared_pitch(plan, rows, operand);
}

std::int64_t direct_bytes(const Plan& plan, const Rows& rows, std::int64_t count) {
  const auto box = rows_of_box(plan, plan.extents[0].value(), count);
  const bool known = std::ranges::all_of(plan.extents, &Dim::is_known);
  double bytes = 0;
  for (const Operand& operand : plan.operands) {
    if (!is_direct(plan, rows, operand) || !varies_in_row(operand, rows)) continue;
    double elements = 1;  // those that rows share are read once
    for (std::size_t m = 0; m < box.size(); ++m) {
      const OperandMode& mode = operand.modes[m];
      if (mode.size() != 1 || !mode[0].stride.is(0)) elements *= static_cast<double>(box[m]);
    }
    bytes += elements * (known ? bytes_of_element(operand, plan.extents, box)
                               : static_cast<double>(size_bytes(operand.dtype)));
  }
  return static_cast<std::int64_t>(bytes);
}

bool stores_parts(const Plan& plan) {
  const StagedRows* const staged = staged_of(plan);
  return staged != nullptr && elements_of(plan) >= static_cast<double>(device::kThreadsAtOnce) &&
         direct_us(plan, *staged) > bytes_us(plan, *staged);
}

bool reads_instead(const Plan& by_output, const Plan& plan) {
  const StagedRows *const after = staged_of(by_output), *const before = staged_of(plan);
  return after != nullptr && before != nullptr &&
         direct_us(by_output, *after) < kGainOfOrder * direct_us(plan, *before);
}

}  // namespace tilejit::plan
