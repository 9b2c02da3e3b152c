#include "scan/figures.hpp"

#include "figures/of_families.hpp"
#include "rows/figures.hpp"
#include "scan/scan.hpp"

namespace tilejit::figures {

using plan::Plan;

Sentences why(const Plan&, const plan::Scan&) {
  return {"the formula scans, so threads share rows and pass on what comes before."};
}

ThreadValues values_of_chunk(const Plan& plan, const plan::Rows& rows) {
  const int steps = steps_of_row(plan, rows), groups = plan.threads / rows.row_threads;
  const Dim chunk = Dim(rows.row_threads) * steps;
  if (rows.along()) {
    const Dim length = chunk * plan.vector;
    return {
        tuple_of({length, groups}),
        make_layout({flat_layout({rows.row_threads, groups}, {plan.vector, length}),
                     flat_layout({plan.vector, steps}, {1, Dim(rows.row_threads) * plan.vector})})};
  }
  const Dim across = Dim(groups) * plan.vector;
  if (plan::takes_turns(plan, rows))
    return {tuple_of({across, chunk}),
            make_layout({flat_layout({groups, rows.row_threads}, {plan.vector, across}),
                         flat_layout({plan.vector, steps}, {1, across * rows.row_threads})})};
  return {tuple_of({across, chunk}),
          make_layout({flat_layout({groups, rows.row_threads}, {plan.vector, across * steps}),
                       flat_layout({plan.vector, steps}, {1, across})})};
}

ThreadValues values_of(const Plan& plan, const plan::Scan& scan) {
  return values_of_chunk(plan, scan);
}

}  // namespace tilejit::figures
