#include "knobs/of_families.hpp"

namespace tilejit::knobs {

/// Pinned knobs of other families are tried instead.
void add_knobs(const plan::Sheared&, Knobs& knobs) {
  knobs.add({{.tile = {{64, 64}}}, {.tile = {{128, 64}}}});
}

}  // namespace tilejit::knobs
