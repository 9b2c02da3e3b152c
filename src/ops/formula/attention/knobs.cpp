#include "knobs/of_families.hpp"

namespace tilejit::knobs {

void add_knobs(const plan::AttentionWgmma&, Knobs&) {}

}  // namespace tilejit::knobs
