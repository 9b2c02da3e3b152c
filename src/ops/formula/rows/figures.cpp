#include "rows/figures.hpp"

#include <algorithm>

#include "figures/of_families.hpp"
#include "rows/rows.hpp"
#include "rows/turned.hpp"
#include "rows/turned_inputs.hpp"

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
  return rows.register_vectors > 0 ? rows.register_vectors : plan.unroll;
}

ThreadValues values_of(const Plan& plan, const plan::Rows& rows) {
  const int steps = steps_of_row(plan, rows), groups = plan.threads / rows.row_threads;
  // Splits of a row follow each other.
  const Dim all_threads = Dim(rows.row_threads) * rows.cluster;
  if (rows.along()) {
    const Dim length = all_threads * plan.vector * steps;
    if (rows.abreast)
      return {tuple_of({length, groups}),
              make_layout({flat_layout({groups, rows.row_threads}, {length, plan.vector}),
                           flat_layout({plan.vector, steps}, {1, all_threads * plan.vector})})};
    return {tuple_of({length, groups}),
            make_layout({flat_layout({rows.row_threads, groups}, {plan.vector, length}),
                         flat_layout({plan.vector, steps}, {1, all_threads * plan.vector})})};
  }
  const Dim across = Dim(groups) * plan.vector;
  return {tuple_of({across, all_threads * steps}),
          make_layout({flat_layout({groups, rows.row_threads}, {plan.vector, across}),
                       flat_layout({plan.vector, steps}, {1, all_threads * across})})};
}

ModesOfTile modes_of_tile(const Plan& plan, const plan::Rows& rows) {
  std::vector<std::size_t> all = modes_of_space(plan);
  const auto second = std::stable_partition(
      all.begin(), all.end(), [&](std::size_t m) { return rows.reduces(m) == rows.along(); });
  return {{all.begin(), second}, {second, all.end()}};
}

int vectors_ahead(const Plan& plan, const plan::Rows& rows, const Operand& operand) {
  if (operand.every_row) return 1;
  return rows.register_vectors == 0 ? plan.unroll : rows.register_vectors;
}

std::int64_t shared_bytes(const Plan& plan, const plan::Rows& rows) {
  const std::int64_t turned = (rows.turned > 0 ? plan::turned_bytes(plan, rows) : 0) +
                              (rows.turned_inputs > 0 ? plan::turned_input_bytes(plan, rows) : 0);
  if ((!rows.along() || rows.abreast) && plan::threads_of_row(rows) == 1) return turned;
  const std::int64_t slots =
      rows.along() && !rows.abreast
          ? 2 * (plan.threads / plan::kWarp + (rows.cluster > 1 ? rows.cluster : 0))
          : plan::slots_across(plan.threads, plan.threads / rows.row_threads, rows.cluster) *
                (rows.along() ? 1 : plan.vector);
  return turned + slots * plan::accumulator_bytes(plan) + plan::dynamic_shared_bytes(plan);
}

}  // namespace tilejit::figures
