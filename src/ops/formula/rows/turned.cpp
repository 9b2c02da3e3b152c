#include "rows/turned.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/integer.hpp"
#include "device/access.hpp"
#include "device/scale.hpp"
#include "rows/column_shape.hpp"
#include "rows/rows.hpp"

namespace tilejit::plan {
namespace {

// Bytes of shared memory: a multiprocessor full of threads has 160 KB.
constexpr std::int64_t kTurnedByThread = 80, kTurnedByBlock = 40 * 1024;
// A multiprocessor's stores to a line take some three clocks. To meet for turning, and twice for
// each reduction, takes as long as so many.
constexpr std::int64_t kFewLines = 320;

std::int64_t bytes_of(const Plan& plan, const Rows& rows, const Operand& operand) {
  const std::int64_t bytes =
      turned_columns(plan, rows) * turned_pitch(plan, rows, operand) * size_bytes(operand.dtype);
  constexpr std::int64_t kAlignment = device::kWidestAccess;
  return core::ceil_div(bytes, kAlignment) * kAlignment;
}

/// How far from each other neighbouring columns lie in an output, at most a line.
std::int64_t bytes_apart(const Operand& operand) {
  const std::int64_t stride = operand.modes[0][0].stride.value();
  return std::min<std::int64_t>(std::abs(stride) * size_bytes(operand.dtype), device::kLineBytes);
}

/// Elements that the blocks of the busiest multiprocessor have.
std::int64_t elements_of_multiprocessor(const Plan& plan, const Rows& rows) {
  const std::int64_t length = vectors_in_row(plan, rows).value_or(0);
  const std::int64_t groups = plan.threads / rows.row_threads;
  const std::int64_t blocks =
      core::ceil_div(vectors_across_rows(plan, rows).value_or(0), groups) * rows.cluster;
  return core::ceil_div(blocks, std::int64_t{device::kMultiprocessors}) * groups * plan.vector *
         length / rows.cluster;
}

}  // namespace

bool is_turned(const Plan& plan, const Rows& rows, const Operand& operand) {
  if (rows.along() || rows.count != 1 || rows.splits > 1 || !operand.written || operand.read ||
      operand.per_row || operand.reach != Reach::strided ||
      !std::ranges::all_of(plan.extents, &Dim::is_known))
    return false;
  const OperandMode &along = operand.modes[rows.first], &across = operand.modes[0];
  return along.size() == 1 && across.size() == 1 && along[0].stride.is(1);
}

bool passes_turned(const Plan& plan, const Operand& operand) {
  const auto* const rows = std::get_if<Rows>(&plan.family);
  return rows != nullptr && rows->turned > 0 && is_turned(plan, *rows, operand);
}

int turned_vectors(const Plan& plan, Rows rows) {
  const int lanes = std::max(1, kWarp * rows.row_threads / plan.threads);  // down a column
  const auto turned = [&](const Operand& operand) {
    const bool runs = rows.register_vectors > 0 && lanes * size_bytes(operand.dtype) >= kRunOfLanes;
    return !runs && is_turned(plan, rows, operand);
  };
  std::int64_t bytes = 0;  // of lines, for each element that lanes would store by themselves
  for (const Operand& operand : plan.operands) {
    if (turned(operand)) bytes += bytes_apart(operand);
  }
  if (rows.alike > 1 ||
      bytes * elements_of_multiprocessor(plan, rows) < kFewLines * device::kLineBytes)
    return 0;
  const std::int64_t room =
      device::kStaticSharedBytes - held_shared_bytes(plan, rows, plan.threads);
  const std::int64_t most = std::min({kTurnedByThread * plan.threads, kTurnedByBlock, room});
  const int all = rows.register_vectors > 0 ? rows.register_vectors : plan.unroll;
  for (int turns = 1; turns <= all; ++turns) {
    rows.turned = core::ceil_div(all, turns);
    if (turned_bytes(plan, rows) <= (turns < all ? most : room)) return rows.turned;
  }
  return 0;
}

std::int64_t turned_columns(const Plan& plan, const Rows& rows) {
  return std::int64_t{plan.threads / rows.row_threads} * plan.vector;
}

std::int64_t turned_pitch(const Plan& plan, const Rows& rows, const Operand& operand) {
  const std::int64_t run = std::int64_t{rows.row_threads} * rows.turned;
  const std::int64_t unit =
      std::max<std::int64_t>(1, device::kBankBytes / (plan.vector * size_bytes(operand.dtype)));
  const std::int64_t units = core::ceil_div(run, unit);
  return unit * (units % 2 == 0 ? units + 1 : units);  // an odd number of words, or of vectors
}

std::int64_t turned_place(const Plan& plan, const Rows& rows, const Operand& operand) {
  std::int64_t place = 0;
  for (const Operand& before : plan.operands) {
    if (before.tensor == operand.tensor) break;
    if (is_turned(plan, rows, before)) place += bytes_of(plan, rows, before);
  }
  return place;
}

std::int64_t turned_begins(const Plan& plan, const Rows& rows) {
  std::int64_t bytes = 0;
  for (const Operand& operand : plan.operands) {
    if (is_turned(plan, rows, operand)) bytes += bytes_of(plan, rows, operand);
  }
  return bytes;
}

std::int64_t turned_bytes(const Plan& plan, const Rows& rows) {
  const auto turned = [&](const Operand& operand) { return is_turned(plan, rows, operand); };
  const std::int64_t outputs = std::ranges::count_if(plan.operands, turned);
  return turned_begins(plan, rows) + outputs * kBytesOfBegin * turned_columns(plan, rows);
}

}  // namespace tilejit::plan
