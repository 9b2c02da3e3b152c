#include "figures/of_families.hpp"

namespace tilejit::figures {

using plan::Operand;
using plan::Plan;

Sentences why(const Plan&, const plan::ThreadValue&) {
  return {"the spec gives a thread-value layout, which a block follows."};
}

ThreadValues values_of(const Plan&, const plan::ThreadValue& tv) {
  return {tv.tiler, tv.layout};
}

ModesOfTile modes_of_tile(const Plan&, const plan::ThreadValue& tv) {
  ModesOfTile modes;
  for (const std::size_t m : tv.modes) modes.push_back({m});
  return modes;
}

int vectors_ahead(const Plan& plan, const plan::ThreadValue&, const Operand&) {
  return plan.unroll;
}

std::int64_t shared_bytes(const Plan&, const plan::ThreadValue&) {
  return 0;
}

}  // namespace tilejit::figures
