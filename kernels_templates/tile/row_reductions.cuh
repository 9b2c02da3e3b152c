// What a formula reduces along n, of the rows of a warp's sums: first each thread its own elements,
// then the four threads that share a row. The partial results of a tile go to memory.
#pragma once

#include "tile/shuffle.cuh"

namespace tile {

// Work has kReductions, how many reductions there are; and then Reduced has start(all),
// combine(all, other) and store(p, tile, row, all), where `all` has a value of each.
template <class Work, bool kAny = (Work::kReductions > 0)>
struct RowReductions {
  TILE_DEVICE void start() {}
  template <class Params, class Tile>
  TILE_DEVICE void finish(const Params&, const Tile&, i32, i32) {}
};

template <class Work>
struct RowReductions<Work, true> {
  using Reduced = typename Work::Reduced;
  float all[2][Work::kReductions];  // of the rows lane / 4 and 8 below

  TILE_DEVICE void start() {
#pragma unroll
    for (int below = 0; below < 2; ++below) Reduced::start(all[below]);
  }

  // `row` is the first one of the warp's 16.
  template <class Params, class Tile>
  TILE_DEVICE void finish(const Params& p, const Tile& tile, i32 row, i32 lane) {
#pragma unroll
    for (int below = 0; below < 2; ++below) {
#pragma unroll
      for (int apart = 1; apart < 4; apart *= 2) {
        float other[Work::kReductions];
#pragma unroll
        for (int i = 0; i < Work::kReductions; ++i) other[i] = shuffle_xor(all[below][i], apart);
        Reduced::combine(all[below], other);
      }
      if (lane % 4 == 0) Reduced::store(p, tile, row + lane / 4 + 8 * below, all[below]);
    }
  }
};

}  // namespace tile
