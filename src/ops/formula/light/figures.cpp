#include "figures/of_families.hpp"

#include "scan/figures.hpp"

namespace tilejit::figures {

using plan::Plan;

Sentences why(const Plan&, const plan::Light&) {
  return {"the least code that shares rows, so that it is compiled soonest."};
}

ThreadValues values_of(const Plan& plan, const plan::Light& light) {
  const plan::Rows& rows = light;
  return light.direction ? values_of_chunk(plan, rows) : values_of(plan, rows);
}

}  // namespace tilejit::figures
