#pragma once

#include "fake/hand_plans.hpp"

namespace tilejit {

/// Rows that blocks share: 1000 rows of 8 elements. Each combining block takes four rows; with
/// atomics the last of four blocks combines one row.
inline HandPlan shared_rows(bool atomics = false) {
  HandPlan plan;
  plan.in("x", "(1000,8):(8,1)").out("y", "(1000,8):(8,1)");
  plan.plan.family = plan::Rows{.first = 0, .row_threads = 128, .splits = 4, .atomics = atomics};
  plan.plan.threads = 128;
  plan.param({.kind = plan::Param::Kind::workspace, .index = 0});
  expr::Node element, sum;
  element.op = expr::Op::load;
  element.source = 0;
  sum.op = expr::Op::reduce_sum;
  sum.args[0] = 0;
  plan.plan.program.nodes = {element, sum};
  return plan;
}

}  // namespace tilejit
