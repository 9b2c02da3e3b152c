// Results of 64 columns on their way through shared memory, of which 8 neighbours along m are
// stored at a time.
#pragma once

#include "tile/named_barrier.cuh"

namespace tile {

// The rows of kWarps warps, 16 each: of one warp, or of a warpgroup, so that whole lines of 128
// bytes are stored. A column has a line of chunks of 8 rows, in an order with which neither side of
// the exchange meets a bank twice.
template <int kWarps>
struct PanelAlongM {
  static_assert(kWarps == 1 || kWarps == 4, "a warp or a warpgroup");
  static constexpr u32 kChunks = 2 * kWarps, kLine = 16 * kChunks;

  // This warp's number among them.
  static TILE_DEVICE u32 warp() { return kWarps == 1 ? 0 : threadIdx.x / 32 % 4; }

  static TILE_DEVICE u32 place(u32 column, u32 chunk) {
    return column * kLine + (chunk ^ (column / (8 / kChunks) % kChunks)) * 16;
  }
  // Where the warp's first or second 8 rows go.
  static TILE_DEVICE u32 written(u32 column, u32 half) { return place(column, warp() * 2 + half); }

  // What a lane stores in turn i of 4: its place, and its column and row, the latter relative to
  // the warp's first row.
  static TILE_DEVICE u32 column(int i, u32 lane) {
    return kWarps == 1 ? 16 * i + lane / 2 : warp() * 16 + 4 * i + lane / 8;
  }
  static TILE_DEVICE u32 chunk(int i, u32 lane) { return place(column(i, lane), lane % kChunks); }
  static TILE_DEVICE i32 row(u32 lane) { return i32(lane % kChunks * 8) - i32(warp() * 16); }

  // Warpgroups have barriers of their own; the first ones are those of warpgroups in turns.
  static TILE_DEVICE void wait() {
    const u32 warpgroup = threadIdx.x / 128;
    if (warpgroup == 1) {
      named_barrier_sync<3, 128>();
    } else if (warpgroup == 2) {
      named_barrier_sync<4, 128>();
    } else {
      named_barrier_sync<5, 128>();
    }
  }
};

}  // namespace tile
