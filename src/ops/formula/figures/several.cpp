// What is said of several kernels as one: each part has figures of its own.
#include <fmt/format.h>

#include "figures/of_families.hpp"

namespace tilejit::figures {

using plan::Operand;
using plan::Plan;

Sentences why(const Plan&, const plan::Several& several) {
  return {
      fmt::format("the formula combines over different axes, or what it has scanned, so {} "
                  "kernels run one after another, with {} in memory between them.",
                  several.parts.size(),
                  count_text(static_cast<std::int64_t>(several.temporaries.size()), "result"))};
}

ThreadValues values_of(const Plan&, const plan::Several&) {
  return {};
}

ModesOfTile modes_of_tile(const Plan&, const plan::Several&) {
  return {};
}

int vectors_ahead(const Plan&, const plan::Several&, const Operand&) {
  return 0;
}

std::int64_t shared_bytes(const Plan&, const plan::Several&) {
  return 0;
}

}  // namespace tilejit::figures
