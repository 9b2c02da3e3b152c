#include "rows/turned_inputs.hpp"

#include <algorithm>
#include <vector>

#include "core/integer.hpp"
#include "device/access.hpp"
#include "device/scale.hpp"
#include "plan/sectors.hpp"
#include "rows/column_shape.hpp"
#include "rows/rows.hpp"
#include "rows/turned.hpp"

namespace tilejit::plan {
namespace {

// Bytes of shared memory: a multiprocessor full of threads has 160 KB.
constexpr std::int64_t kTurnedByThread = 80, kTurnedByBlock = 40 * 1024;
constexpr int kMostTurns = 4;            // each of which waits for memory
constexpr double kMostOfSectors = 1.25;  // bytes of sectors, of lanes that store whole ones

std::int64_t bytes_of(const Plan& plan, const Rows& rows, const Operand& operand) {
  const std::int64_t bytes =
      turned_columns(plan, rows) * turned_input_pitch(rows, operand) * size_bytes(operand.dtype);
  constexpr std::int64_t kAlignment = device::kWidestAccess;
  return core::ceil_div(bytes, kAlignment) * kAlignment;
}

/// Whether stores of a few bytes each take longer than to make blocks wait once more.
bool is_large(const Plan& plan) {
  double elements = 1;
  for (const Dim& extent : plan.extents)
    elements *= extent.is_known() ? static_cast<double>(extent.value()) : 0;
  return elements >= static_cast<double>(device::kThreadsAtOnce);
}

bool has_known_strides(const Operand& operand) {
  return std::ranges::all_of(operand.modes, [](const OperandMode& mode) {
    return std::ranges::all_of(
        mode, [](const Mode& leaf) { return leaf.stride.is_known() && leaf.stride.value() >= 0; });
  });
}

}  // namespace

bool lies_across_output(const Plan& plan) {
  const Rows* const rows = rows_of(plan);
  if (rows == nullptr || !rows->along() || rows->count != 1 || direction_of(plan) ||
      plan.target.major < 8 || !is_large(plan))
    return false;
  std::vector<std::int64_t> lanes(plan.extents.size(), 1);  // that store an element each
  std::int64_t side = std::max(1, kWarp / rows->row_threads);
  for (std::size_t m = rows->count; m < lanes.size(); ++m) {
    lanes[m] = std::min(side, plan.extents[m].value());
    side = std::max<std::int64_t>(1, side / plan.extents[m].value());
  }
  return std::ranges::any_of(plan.operands, [&](const Operand& operand) {
    if (!operand.written || operand.per_row || operand.reach != Reach::strided) return false;
    const bool across = std::ranges::any_of(
        operand.modes.begin() + static_cast<std::ptrdiff_t>(rows->count), operand.modes.end(),
        [](const OperandMode& leaves) { return leaves.size() == 1 && leaves[0].stride.is(1); });
    return across && bytes_of_element(operand, plan.extents, lanes) >
                         kMostOfSectors * size_bytes(operand.dtype);
  });
}

bool turns_well(const Plan& turned, const Plan& plan) {
  const auto* const rows = std::get_if<Rows>(&turned.family);
  if (rows == nullptr || rows->turned_inputs == 0 || rows->cluster > 1) return false;
  const auto is_slow = [&](const Operand& operand) {
    return is_turned_input(turned, *rows, operand) &&
           turned_copy(turned, *rows, operand) * size_bytes(operand.dtype) < device::kBankBytes;
  };
  return !cuts_held_sectors(plan) || std::ranges::none_of(turned.operands, is_slow);
}

bool is_turned_input(const Plan& plan, const Rows& rows, const Operand& operand) {
  if (rows.turned_inputs == 0 || rows.along() || rows.count != 1 || !operand.read ||
      operand.written || operand.reach != Reach::strided || operand.every_row ||
      !varies_in_row(operand, rows) || !std::ranges::all_of(plan.extents, &Dim::is_known))
    return false;
  const OperandMode &along = operand.modes[rows.first], &across = operand.modes[0];
  return along.size() == 1 && across.size() == 1 && along[0].stride.is(1) &&
         has_known_strides(operand);
}

bool comes_turned(const Plan& plan, const Operand& operand) {
  const auto* const rows = std::get_if<Rows>(&plan.family);
  return rows != nullptr && is_turned_input(plan, *rows, operand);
}

int turned_input_vectors(const Plan& plan, Rows rows) {
  const auto turned = [&](const Operand& operand) { return is_turned_input(plan, rows, operand); };
  if (rows.register_vectors == 0 || rows.splits > 1 || rows.alike > 1 || rows.turned > 0 ||
      std::ranges::none_of(plan.operands, turned))
    return 0;
  const std::int64_t room =
      device::kStaticSharedBytes - held_shared_bytes(plan, rows, plan.threads);
  const std::int64_t most = std::min({kTurnedByThread * plan.threads, kTurnedByBlock, room});
  const int all = rows.register_vectors;
  for (int turns = 1; turns <= std::min(all, kMostTurns); ++turns) {
    const bool last = turns == std::min(all, kMostTurns);
    rows.turned_inputs = core::ceil_div(all, turns);
    // Whole words, if a thread has a row to itself.
    if (turns > 1 && threads_of_row(rows) == 1)
      rows.turned_inputs = std::min(all, (rows.turned_inputs + 3) / 4 * 4);
    if (turned_input_bytes(plan, rows) <= (last ? room : most)) return rows.turned_inputs;
  }
  return 0;
}

int turned_copy(const Plan& plan, const Rows& rows, const Operand& operand) {
  const int bytes = size_bytes(operand.dtype);
  const int wanted = std::max(1, device::kBankBytes / bytes);
  const auto& tensor = plan.signature.tensors[static_cast<std::size_t>(operand.tensor)];
  const auto is_whole = [&](std::int64_t count) { return count % wanted == 0; };
  bool whole = tensor.align % std::max(bytes, int{device::kBankBytes}) == 0 &&
               is_whole(operand.offset) && is_whole(plan.extents[rows.first].value()) &&
               is_whole(rows.cluster > 1 ? rows.row_threads
                                         : std::int64_t{rows.row_threads} * rows.turned_inputs);
  for (std::size_t m = 0; m < operand.modes.size(); ++m) {
    for (const Mode& leaf : operand.modes[m])
      whole = whole && (rows.reduces(m) || is_whole(leaf.stride.value()));
  }
  return whole ? wanted : 1;
}

std::int64_t turned_input_pitch(const Rows& rows, const Operand& operand) {
  const std::int64_t run = std::int64_t{rows.row_threads} * rows.turned_inputs;
  const std::int64_t word = std::max(1, device::kBankBytes / size_bytes(operand.dtype));
  const std::int64_t words = core::ceil_div(run, word);
  return word * (words % 2 == 0 ? words + 1 : words);
}

std::int64_t turned_input_place(const Plan& plan, const Rows& rows, const Operand& operand) {
  std::int64_t place = 0;
  for (const Operand& before : plan.operands) {
    if (before.tensor == operand.tensor) break;
    if (is_turned_input(plan, rows, before)) place += bytes_of(plan, rows, before);
  }
  return place;
}

std::int64_t turned_input_begins(const Plan& plan, const Rows& rows) {
  std::int64_t bytes = 0;
  for (const Operand& operand : plan.operands) {
    if (is_turned_input(plan, rows, operand)) bytes += bytes_of(plan, rows, operand);
  }
  return bytes;
}

std::int64_t turned_input_bytes(const Plan& plan, const Rows& rows) {
  const auto turned = [&](const Operand& operand) { return is_turned_input(plan, rows, operand); };
  const std::int64_t inputs = std::ranges::count_if(plan.operands, turned);
  return turned_input_begins(plan, rows) + inputs * kBytesOfBegin * turned_columns(plan, rows);
}

}  // namespace tilejit::plan
