#include "figures/of_families.hpp"

namespace tilejit::figures {

using plan::Plan;

Sentences why(const Plan&, const plan::Staged& staged) {
  return {std::string("the formula ") + (staged.direction ? "scans" : "reduces") +
          " rows that are short or odd, so a block copies many of them to shared memory as one run, "
          "16 bytes at a time, and its threads take them from there."};
}

std::int64_t shared_bytes(const Plan& plan, const plan::Staged& staged) {
  return plan::staged_bytes(plan, staged);
}

}  // namespace tilejit::figures
