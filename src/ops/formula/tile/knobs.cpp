#include "knobs/of_families.hpp"

#include <array>

namespace tilejit::knobs {
namespace {

Alternatives other_tiles(const plan::Tile& tile) {
  Alternatives alternatives;
  const int columns = tile.columns, rows = tile.rows;
  const std::array<int, 2> sides[] = {{columns / 2, rows},     {columns, rows / 2},
                                      {columns * 2, rows},     {columns, rows * 2},
                                      {columns / 2, rows / 2}, {columns * 2, rows * 2}};
  for (const auto& side : sides) alternatives.push_back({.tile = side});
  return alternatives;
}

}  // namespace

void add_knobs(const plan::Tile& tile, Knobs& knobs) {
  if (!knobs.pinned().tile) knobs.add(other_tiles(tile));
}

}  // namespace tilejit::knobs
