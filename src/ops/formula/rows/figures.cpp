#include "rows/figures.hpp"

#include <algorithm>

#include "figures/of_families.hpp"
#include "rows/rows.hpp"

namespace tilejit::figures {

using plan::Operand;
using plan::Plan;

Sentences why(const Plan&, const plan::Rows& rows) {
  return {"the formula reduces, so threads share rows.",
          rows.along() ? "The reduced mode is the contiguous one: vectors lie along a row."
                       : "The kept mode is the contiguous one: each element of a vector is another "
                         "row's."};
}

int steps_of_row(const Plan& plan, const plan::Rows& rows) {
  return rows.held > 0 ? rows.held : plan.unroll;
}

ThreadValues values_of(const Plan& plan, const plan::Rows& rows) {
  const int steps = steps_of_row(plan, rows), groups = plan.threads / rows.lanes;
  // Shares of a row follow each other.
  const Dim row_lanes = Dim(rows.lanes) * rows.cluster;
  if (rows.along()) {
    const Dim length = row_lanes * plan.vector * steps;
    return {tuple_of({length, groups}),
            make_layout({flat_layout({rows.lanes, groups}, {plan.vector, length}),
                         flat_layout({plan.vector, steps}, {1, row_lanes * plan.vector})})};
  }
  const Dim across = Dim(groups) * plan.vector;
  return {tuple_of({across, row_lanes * steps}),
          make_layout({flat_layout({groups, rows.lanes}, {plan.vector, across}),
                       flat_layout({plan.vector, steps}, {1, row_lanes * across})})};
}

ModesOfTile modes_of_tile(const Plan& plan, const plan::Rows& rows) {
  std::vector<std::size_t> all = modes_of_space(plan);
  const auto second = std::stable_partition(
      all.begin(), all.end(), [&](std::size_t m) { return rows.reduces(m) == rows.along(); });
  return {{all.begin(), second}, {second, all.end()}};
}

int vectors_ahead(const Plan& plan, const plan::Rows& rows, const Operand& operand) {
  if (operand.every_row) return 1;
  return rows.held == 0 ? plan.unroll : rows.held;
}

std::int64_t shared_bytes(const Plan& plan, const plan::Rows& rows) {
  const std::int64_t slots =
      rows.along()
          ? 2 * (plan.threads / plan::kWarp + (rows.cluster > 1 ? rows.cluster : 0))
          : plan::slots_across(plan.threads, plan.threads / rows.lanes, rows.cluster) * plan.vector;
  return slots * plan::accumulator_bytes(plan) + plan::dynamic_shared_bytes(plan);
}

}  // namespace tilejit::figures
