#include "figures/of_families.hpp"

namespace tilejit::figures {

using plan::Plan;

Sentences why(const Plan&, const plan::Strips&) {
  return {
      "the formula reduces columns whose rows begin anywhere within 16 bytes, so the blocks of "
      "a cluster copy strips of them to shared memory, 16 bytes at a time.",
      "A thread takes rows that begin alike, and so the same columns of each."};
}

std::int64_t shared_bytes(const Plan& plan, const plan::Strips& strips) {
  return plan::strip_bytes(plan, strips);
}

}  // namespace tilejit::figures
