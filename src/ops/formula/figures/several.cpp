// What is said of several kernels as one: each part has figures of its own.
#include <fmt/format.h>

#include <string>

#include "figures/of_families.hpp"
#include "plan/split.hpp"

namespace tilejit::figures {

using plan::Operand;
using plan::Plan;

Sentences why(const Plan& plan, const plan::Several& several) {
  const std::string cause =
      plan::is_one_kernel(plan.program)
          ? "one kernel would leave the memory idle or access parts of sectors"
          : "the formula combines over different axes, or what it has scanned";
  return {fmt::format("{}, so {} kernels run one after another, with {} in memory between them.",
                      cause, several.parts.size(),
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
