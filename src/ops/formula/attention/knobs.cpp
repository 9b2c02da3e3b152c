#include <array>

#include "knobs/of_families.hpp"

namespace tilejit::knobs {

void add_knobs(const plan::AttentionWgmma&, Knobs&) {}

void add_knobs(const plan::AttentionMma& attention, Knobs& knobs) {
  if (knobs.pinned().tile) return;
  const int rows = attention.tile.m == 64 ? 128 : 64;
  knobs.add({{.tile = attention.along_m ? std::array{rows, attention.tile.n}
                                        : std::array{attention.tile.n, rows}}});
}

}  // namespace tilejit::knobs
