#include "knobs/of_families.hpp"

namespace tilejit::knobs {

void add_knobs(const plan::Scan& scan, Knobs& knobs) {
  if (scan.register_vectors == 0) knobs.add_unroll();
}

}  // namespace tilejit::knobs
