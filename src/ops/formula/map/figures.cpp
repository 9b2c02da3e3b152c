#include "figures/of_families.hpp"

namespace tilejit::figures {

using plan::Operand;
using plan::Plan;

Sentences why(const Plan&, const plan::Map& map) {
  if (map.flat) {
    return {
        "rows of the outputs go on from one to the next, so a block takes vectors in turn, and "
        "inputs that repeat element by element."};
  }
  return {"all operands agree about the contiguous mode, so a block takes vectors in turn."};
}

ThreadValues values_of(const Plan& plan, const plan::Map&) {
  const Dim run = Dim(plan.threads) * plan.vector;
  return {run * plan.unroll, make_layout({Layout(plan.threads, plan.vector),
                                          flat_layout({plan.vector, plan.unroll}, {1, run})})};
}

ModesOfTile modes_of_tile(const Plan& plan, const plan::Map&) {
  return {modes_of_space(plan)};
}

int vectors_ahead(const Plan& plan, const plan::Map&, const Operand&) {
  return plan.unroll;
}

std::int64_t shared_bytes(const Plan&, const plan::Map&) {
  return 0;
}

}  // namespace tilejit::figures
