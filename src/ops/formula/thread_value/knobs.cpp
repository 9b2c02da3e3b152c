#include "knobs/of_families.hpp"

namespace tilejit::knobs {

void add_knobs(const plan::ThreadValue&, Knobs& knobs) {
  knobs.add_unroll();
}

}  // namespace tilejit::knobs
