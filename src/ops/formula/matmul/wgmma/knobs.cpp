#include <algorithm>

#include "knobs/of_families.hpp"
#include "wgmma/wgmma_plan.hpp"

namespace tilejit::knobs {
namespace {

constexpr std::size_t kMostTiles = 8;

}  // namespace

void add_knobs(const plan::MatmulWgmma& product, Knobs& knobs) {
  if (knobs.pinned().tile) return;
  Alternatives tiles;
  for (const plan::WgmmaTile& one : plan::ranked_tiles(plan::problem_of(knobs.plan(), product))) {
    const bool along_m = product.along_m != one.swapped;
    const Tuning tuning{.tile = along_m ? std::array{one.m, one.n} : std::array{one.n, one.m},
                        .cluster = one.cluster * one.beside,
                        .splits = one.splits};
    if (std::ranges::find(tiles, tuning) == tiles.end()) tiles.push_back(tuning);
    if (tiles.size() == kMostTiles) break;
  }
  knobs.add(std::move(tiles));
}

}  // namespace tilejit::knobs
