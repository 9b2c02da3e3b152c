#include "knobs/of_families.hpp"

namespace tilejit::knobs {

void add_knobs(const plan::Strips&, Knobs&) {}

}  // namespace tilejit::knobs
