#include "knobs/of_families.hpp"

namespace tilejit::knobs {

/// Pinned knobs of other families are tried instead.
void add_knobs(const plan::Box&, Knobs& knobs) {
  knobs.add({{.tile = {{32, 32}}}, {.tile = {{64, 64}}}, {.tile = {{64, 32}}}});
}

}  // namespace tilejit::knobs
