// The thread that brings the operands of tile/warpgroup_matmul.cuh to shared memory, stage by
// stage, and where a block is in its cluster. Target: sm_90a.
//
// A cluster has kCluster * kBeside * kSplits blocks: those with the first part of K, then those
// with the next one; of a part, those of the first column, then those of the next one. What several
// blocks read, each of them brings a part of to all:
//
//                 column 0        column 1
//     row 0     A0, half of B0    A0, half of B1       A0: half by each block of the row
//     row 1     A1, half of B0    A1, half of B1
#pragma once

#include "tile/pipeline.cuh"
#include "tile/tensor_map.cuh"

namespace tile {

// Of kBoxes with kRows rows each, kParts of which lie along K, those that begin among `rows`.
template <int kBoxes, int kRows, int kParts>
TILE_DEVICE i32 boxes_inside(i64 rows) {
  if (rows >= i64(kBoxes / kParts) * kRows) return kBoxes;
  return rows <= 0 ? 0 : i32(rows + kRows - 1) / kRows * kParts;
}

// Work is that of tile/warpgroup_matmul.cuh.
template <class Work>
struct WarpgroupProducer {
  using TileA = typename Work::SharedA;
  using TileB = typename Work::SharedB;
  using Ring = Pipeline<Work::kStages>;
  using State = typename Ring::State;
  static constexpr int kStages = Work::kStages, kCluster = Work::kCluster;
  static constexpr int kBeside = Work::kBeside, kSplits = Work::kSplits;
  static constexpr int kOfPart = kCluster * kBeside, kBlocks = kOfPart * kSplits;  // of a cluster
  static constexpr u32 kOfB = kStages * TileA::kBytes;                             // shared memory

  // Where a block is: its tile in the cluster, and its part of K, which begins at step `first`.
  struct Role {
    u32 row, column, part;
    i32 first, steps;
  };
  template <class Params>
  static TILE_DEVICE Role role_of(const Params& p, u32 rank) {
    const i32 steps = i32((Work::extent_k(p) + Work::kK - 1) / Work::kK);
    const u32 row = rank % kCluster, column = rank / kCluster % kBeside, part = rank / kOfPart;
    if constexpr (kSplits == 1) return {row, column, 0, 0, steps};
    const i32 first = i32(u32(steps) * part / kSplits);
    return {row, column, part, first, i32(u32(steps) * (part + 1) / kSplits) - first};
  }

  // Starts the copies of one operand's tile at element k. Of kSharing blocks that have the same
  // tile of it, the one of that number brings its part of the boxes to all, which are in `mask`.
  //
  // Source has kBoxes of kBoxBytes each, one after another, of which a block brings one in each
  // turn: map(p, turn, own); box(tile, turn, own, k); and inside(p, tile), how many of them are not
  // wholly outside the matrix. The others are not asked for; their sums are no results.
  template <class Source, int kSharing, class Params, class Tile>
  static TILE_DEVICE void load_operand(const Params& p, const Tile& tile, i32 k, u32 to,
                                       u32 barrier, i32 inside, u32 own, u16 mask) {
    constexpr int kTurns = (Source::kBoxes + kSharing - 1) / kSharing;
    to += own * Source::kBoxBytes;
    inside -= i32(own);
#pragma unroll
    for (int turn = 0; turn < kTurns; ++turn) {
      if (turn * kSharing >= inside) break;
      const TensorMap& map = Source::map(p, turn, own);
      const auto box = Source::box(tile, turn, own, k);
      const u32 at = to + turn * (kSharing * Source::kBoxBytes);
      if constexpr (kSharing == 1) {
        load_box(at, map, box, barrier);
      } else {
        load_box_multicast(at, map, box, barrier, mask);
      }
    }
  }

  // How many boxes of a tile the blocks that share it bring. If blocks share rows and columns, each
  // of them brings some, even from outside: else a block could have the next stage, and release it
  // again, before one that brings nothing to it has been released by others.
  template <class Source, int kSharing, class Params, class Tile>
  static TILE_DEVICE i32 boxes_of(const Params& p, const Tile& tile) {
    const i32 inside = Source::inside(p, tile);
    if constexpr (kCluster == 1 || kBeside == 1) {
      return inside;
    } else {
      static_assert(kSharing <= Source::kBoxes, "each block has a box to bring");
      return inside < kSharing ? kSharing : inside;
    }
  }

  // The one thread that fills the ring.
  template <class Params>
  static TILE_DEVICE void produce(const Params& p, u32 memory, Ring ring, const Role& role) {
    State at;
    const u32 count = Work::count(p), start = role.part * kOfPart;
    constexpr u32 kRow = ((1u << kOfPart) - 1) / ((1u << kCluster) - 1);  // each kCluster-th bit
    const u16 same_row = u16(kRow << (start + role.row)),
              same_column = u16(((1 << kCluster) - 1) << (start + role.column * kCluster));
    for (u32 t = blockIdx.x / kBlocks; t < count; t += gridDim.x / kBlocks) {
      const auto tile = Work::tile_at(p, t, role.row, role.column);
      // Whole boxes count, whatever an edge cuts off, and those that other blocks bring.
      const i32 boxes_a = boxes_of<typename Work::BoxesA, kBeside>(p, tile),
                boxes_b = boxes_of<typename Work::BoxesB, kCluster>(p, tile);
      const u32 bytes = u32(boxes_a * Work::BoxesA::kBoxBytes + boxes_b * Work::BoxesB::kBoxBytes);
#pragma unroll 1
      for (i32 step = 0; step < role.steps; ++step, at.advance()) {
        const i32 k = (role.first + step) * Work::kK;
        ring.acquire(at);
        ring.expect(at, bytes);
        load_operand<typename Work::BoxesA, kBeside>(p, tile, k, memory + at.stage * TileA::kBytes,
                                                     ring.full(at), boxes_a, role.column, same_row);
        load_operand<typename Work::BoxesB, kCluster>(
            p, tile, k, memory + kOfB + at.stage * TileB::kBytes, ring.full(at), boxes_b, role.row,
            same_column);
      }
    }
    ring.drain(at);
  }
};

}  // namespace tile
