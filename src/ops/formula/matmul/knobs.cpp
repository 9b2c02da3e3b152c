#include "knobs/of_families.hpp"

namespace tilejit::knobs {
namespace {

void add_tiles(const plan::Matmul& product, std::span<const plan::ShapeOfClass> shapes,
               Knobs& knobs) {
  if (knobs.pinned().tile) return;
  Alternatives tiles;
  for (const plan::ShapeOfClass& one : shapes) {
    if (one.shape.m == product.tile.m && one.shape.n == product.tile.n) continue;
    tiles.push_back({.tile = product.along_m ? std::array{one.shape.m, one.shape.n}
                                             : std::array{one.shape.n, one.shape.m}});
  }
  knobs.add(std::move(tiles));
}

}  // namespace

void add_knobs(const plan::MatmulMma& product, Knobs& knobs) {
  add_tiles(product, plan::tensor_core_shapes(product.atom, knobs.target()), knobs);
}

void add_knobs(const plan::MatmulSimt& product, Knobs& knobs) {
  add_tiles(product, plan::simt_shapes(product.accumulator), knobs);
}

void add_knobs(const plan::Several& several, Knobs& knobs) {
  if (several.parts.size() != 1) return;
  if (const auto* mma = std::get_if<plan::MatmulMma>(&several.parts.front().family)) {
    add_knobs(*mma, knobs);
  } else if (const auto* simt = std::get_if<plan::MatmulSimt>(&several.parts.front().family)) {
    add_knobs(*simt, knobs);
  } else if (const auto* wgmma = std::get_if<plan::MatmulWgmma>(&several.parts.front().family)) {
    add_knobs(*wgmma, knobs);
  }
}

}  // namespace tilejit::knobs
