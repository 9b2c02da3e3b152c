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

bool are_held_alone(const Rows& rows) {
  return rows.along() && rows.register_vectors > 0 && rows.cluster == 1 && rows.splits == 1;
}

/// Elements that the steps of a row's threads have, whether they exist or not.
std::int64_t elements_of_steps(const Plan& plan, const Rows& rows) {
  return std::int64_t{rows.row_threads} * rows.register_vectors * plan.vector;
}

/// `plan`, whose family is of rows, by vectors of `elements`.
Plan by_vectors_of(const Plan& plan, int elements) {
  Plan other = with_vector(plan, elements);
  other.ragged = true;
  other.family = Rows{.first = rows_of(plan)->first, .count = rows_of(plan)->count};
  choose_launch(other, {});
  return other;
}

}  // namespace

void fill_steps(Plan& plan) {
  if (!std::holds_alternative<Rows>(plan.family)) return;
  const bool wide = std::ranges::any_of(plan.operands, [](const Operand& operand) {
    return operand.access_bytes == device::kWidestAccess;
  });
  const bool has_weights = std::ranges::any_of(plan.operands, [](const Operand& operand) {
    return operand.reach == Reach::contiguous && repeats(operand);
  });
  const Rows& rows = *rows_of(plan);
  if (!plan.peeled || plan.vector != kLongVector || !wide || has_weights || !are_held_alone(rows))
    return;
  Plan shorter = by_vectors_of(plan, kLongVector / 2);
  const Rows& other = *rows_of(shorter);
  // Fewer threads would access parts of lines.
  if (are_held_alone(other) && other.row_threads >= rows.row_threads &&
      kEmptier * elements_of_steps(shorter, other) <= kFuller * elements_of_steps(plan, rows))
    plan = std::move(shorter);
}

}  // namespace tilejit::plan
