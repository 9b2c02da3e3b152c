#include "rows/peeled_rows.hpp"

#include <algorithm>

#include "device/access.hpp"
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

}  // namespace

void fill_steps(Plan& plan) {
  const auto* const rows = std::get_if<Rows>(&plan.family);
  const bool wide = std::ranges::any_of(plan.operands, [](const Operand& operand) {
    return operand.access_bytes == device::kWidestAccess;
  });
  const bool has_weights = std::ranges::any_of(plan.operands, [](const Operand& operand) {
    return operand.reach == Reach::contiguous && repeats(operand);
  });
  if (rows == nullptr || !plan.peeled || plan.vector != kLongVector || !wide || has_weights ||
      !are_held_alone(*rows))
    return;
  Plan shorter = with_vector(plan, kLongVector / 2);
  shorter.ragged = true;
  auto& other = shorter.family.emplace<Rows>(Rows{.first = rows->first, .count = rows->count});
  other.choose_launch(shorter, {});
  // Fewer threads would access parts of lines.
  if (are_held_alone(other) && other.row_threads >= rows->row_threads &&
      kEmptier * elements_of_steps(shorter, other) <= kFuller * elements_of_steps(plan, *rows))
    plan = std::move(shorter);
}

}  // namespace tilejit::plan
