#include "rows/peeled_rows.hpp"

#include <algorithm>

#include "device/access.hpp"
#include "device/scale.hpp"
#include "plan/launch_shape.hpp"
#include "plan/vectors.hpp"
#include "rows/rows.hpp"

namespace tilejit::plan {
namespace {

constexpr int kLongVector = 8;  // of which a half is loaded by 8 bytes
// Steps that have so many elements less save more than accesses to half as many cost.
constexpr std::int64_t kFuller = 5, kEmptier = 6;
constexpr std::int64_t kFullerOfScan = 3, kEmptierOfScan = 4;  // whose steps exchange totals
// Threads of scanned rows, of which instructions rather than latencies take the time.
constexpr std::int64_t kManyScanning = 4 * device::kMostThreadsAtOnce;

bool are_held_alone(const Rows& rows) {
  return rows.along() && rows.register_vectors > 0 && rows.cluster == 1 && rows.splits == 1;
}

/// Elements that the steps of a row's threads have, whether they exist or not.
std::int64_t elements_of_steps(const Plan& plan, const Rows& rows) {
  return std::int64_t{rows.row_threads} * rows.register_vectors * plan.vector;
}

/// `plan` by vectors of `elements`, if its family is of rows or scans.
Plan by_vectors_of(const Plan& plan, int elements) {
  Plan other = with_vector(plan, elements);
  other.ragged = true;
  const Rows fresh{.first = rows_of(plan)->first, .count = rows_of(plan)->count};
  if (auto* const scan = std::get_if<Scan>(&other.family)) {
    static_cast<Rows&>(*scan) = fresh;
  } else {
    other.family = fresh;
  }
  choose_launch(other, {});
  return other;
}

}  // namespace

void fill_steps(Plan& plan) {
  const bool scans = std::holds_alternative<Scan>(plan.family);
  if (!scans && !std::holds_alternative<Rows>(plan.family)) return;
  const bool wide = std::ranges::any_of(plan.operands, [](const Operand& operand) {
    return operand.access_bytes == device::kWidestAccess;
  });
  const bool has_weights = std::ranges::any_of(plan.operands, [](const Operand& operand) {
    return operand.reach == Reach::contiguous && repeats(operand);
  });
  const Rows& rows = *rows_of(plan);
  if (!plan.peeled || plan.vector != kLongVector || !wide || has_weights || !are_held_alone(rows))
    return;
  if (scans && vectors_across_rows(plan, rows).value_or(0) * rows.row_threads < kManyScanning)
    return;
  Plan shorter = by_vectors_of(plan, kLongVector / 2);
  const Rows& other = *rows_of(shorter);
  const std::int64_t fuller = scans ? kFullerOfScan : kFuller;
  const std::int64_t emptier = scans ? kEmptierOfScan : kEmptier;
  // Fewer threads would access parts of lines.
  if (are_held_alone(other) && other.row_threads >= rows.row_threads &&
      emptier * elements_of_steps(shorter, other) <= fuller * elements_of_steps(plan, rows))
    plan = std::move(shorter);
}

}  // namespace tilejit::plan
