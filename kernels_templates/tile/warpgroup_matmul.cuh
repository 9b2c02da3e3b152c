// One product of matrices by the warpgroups of a block, tile after tile. Target: sm_90a. Work,
// which the library writes, has
//
//   kM, kN, kK                        of a tile
//   kStages, kConsumers               of the ring; warpgroups that multiply
//   kCluster, kBeside                 blocks with tiles below each other, which share columns of B,
//                                     and beside each other, which share rows of A
//   kSplits                           blocks with the same tile and a part of K each
//   kProducts                         2: a pair, whose tiles of B lie side by side, kN columns each
//   kStatistic                        something is reduced along the rows of A
//                                     (tile/row_statistics.cuh), and the formula takes it
//   kTakeTurns                        each warpgroup has a tile of its own, and finishes it while
//                                     the next one multiplies; else all have a part of one tile
//   kMayBeEmpty                       K may be 0
//   Product, SharedA, SharedB         the instructions of a stage as one statement, which costs
//                                     compilers less, or of half a stage if kLoadsA; and their
//                                     operands in shared memory
//   kLoadsA                           A goes through registers (tile/operand_along_m.cuh)
//   BoxesA, BoxesB                    where boxes of the operands lie (load_operand)
//   extent_k(p), count(p)             count: groups of tiles, one tile per block of a cluster
//   tile_at(p, number, row, column)   Tile: where a block's tile lies, of those of its cluster
//   Finish                            what becomes of sums (tile/sums_by_words.cuh, .._by_vectors)
//
//   shared memory:  A[kStages] | B[kStages] | sums of each warp on their way | barriers of the
//                   ring | barrier of sums that come from other blocks
//
// A cluster has kCluster * kBeside * kSplits blocks (tile/warpgroup_producer.cuh). If blocks share
// a tile, each has one tile, and sums meet in the memory of its ring.
#pragma once

#include "tile/cluster.cuh"
#include "tile/dependent.cuh"
#include "tile/grid_tile.cuh"
#include "tile/named_barrier.cuh"
#include "tile/operand_along_m.cuh"
#include "tile/roles.cuh"
#include "tile/row_statistics.cuh"
#include "tile/split_sums.cuh"
#include "tile/warpgroup_producer.cuh"
#include "tile/wgmma.cuh"

namespace tile {

// How registers are divided between the producer and the consumers.
template <int kConsumers>
struct RegistersOf {
  static constexpr int kProducer = kConsumers == 1 ? 56 : kConsumers == 2 ? 40 : 32;
  static constexpr int kConsumer = kConsumers == 1 ? 256 : kConsumers == 2 ? 232 : 160;
};

template <class Work>
struct WarpgroupMatmul {
  using Mma = typename Work::Product;
  using TileA = typename Work::SharedA;
  using TileB = typename Work::SharedB;
  using Sum = typename Mma::C;
  using Producer = WarpgroupProducer<Work>;
  using Role = typename Producer::Role;
  using Ring = typename Producer::Ring;
  using State = typename Ring::State;
  static constexpr int kTogether = Work::kTakeTurns ? 1 : Work::kConsumers;  // on one tile
  static constexpr int kHeight = Work::kM / (64 * kTogether);  // instructions, one below the other
  static constexpr int kSteps = Work::kK / Mma::kK;            // and along K
  static constexpr int kCluster = Work::kCluster, kBeside = Work::kBeside;
  static constexpr int kSplits = Work::kSplits;
  static constexpr int kOfPart = Producer::kOfPart, kBlocks = Producer::kBlocks;
  using Splits = SplitSums<Sum, kHeight * Mma::kC, 4 * Work::kConsumers, kSplits>;
  using Rows = RowStatistics<Work, kHeight>;
  using Finish = typename Work::Finish;

  static constexpr u32 kOfB = Producer::kOfB, kOfSums = kOfB + Work::kStages * TileB::kBytes;
  static_assert(Splits::kBytes <= kOfSums, "sums of other blocks lie where the ring was");
  static_assert(!Work::kLoadsA || kHeight == 1, "registers of one instruction's rows");
  // Warps that read a stage by themselves release it by themselves.
  static constexpr int kReleases = Work::kLoadsA ? 4 : 1;
  static constexpr int kOfBatch = kSteps / 2;  // instructions, of A in registers
  // Operands of the formula are loaded ahead, the first ones under the products, if registers last
  // for those of two panels beside the sums and what else there is.
  using Operands = typename Finish::Operands;
  static constexpr int kOfPanels = 2 * int(sizeof(Operands) / 4), kElse = 40;  // registers
  static constexpr bool kAhead =
      Finish::kMayLoadAhead && !Work::kLoadsA && !Work::kStatistic &&
      kHeight * Mma::kC + kOfPanels + kElse <= RegistersOf<Work::kConsumers>::kConsumer;
  static constexpr u32 kOfBarriers = kOfSums + Work::kConsumers * 4 * Finish::kBytes;

  // One batch of products: the operands of a stage.
  template <bool kClear>
  static TILE_DEVICE void multiply_stage(Sum (&d)[kHeight][Mma::kC], u64 a, u64 b) {
    u64 steps_b[kSteps];
#pragma unroll
    for (int k = 0; k < kSteps; ++k) steps_b[k] = b + TileB::step(0, k);
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < kHeight; ++i) {
      u64 steps_a[kSteps];
#pragma unroll
      for (int k = 0; k < kSteps; ++k) steps_a[k] = a + TileA::step(i, k);
      Mma::multiply(d[i], steps_a, steps_b, !kClear);
    }
    wgmma_commit();
  }

  // One arrival for each block that brings a part of the stage: those of the same row or column.
  static constexpr int kBringing = kCluster + kBeside - 1;
  static TILE_DEVICE void release(Ring ring, State state, const Role& role, u32 thread) {
    if constexpr (kOfPart == 1) {
      if (thread == 0) ring.release(state);
    } else {
      const bool brings = kCluster == 1 || kBeside == 1 || thread % kCluster == role.row ||
                          thread / kCluster == role.column;
      if (thread < kOfPart && brings) ring.release_in_block(state, role.part * kOfPart + thread);
    }
  }

  // multiply_tile with A in registers. A batch is half a stage, and a stage's registers are loaded
  // under the products of the stage before it: ptxas would wait for each product by itself if they
  // were written later than the start of the batch that is in flight when their own one starts.
  static TILE_DEVICE void multiply_loaded_tile(Sum (&d)[Mma::kC], u32 memory, Ring ring, State& at,
                                               const Role& role, u32 part, u32 thread) {
    using Batch = u32[kOfBatch][4];
    const u32 place = TileA::place((part * 4 + thread / 32) * 16, thread % 32);
    const auto load = [&](Batch& a, State from, int half) {
#pragma unroll
      for (int i = 0; i < kOfBatch; ++i)
        TileA::load(a[i], memory + from.stage * TileA::kBytes, place, half * kOfBatch + i);
    };
    const auto multiply = [&](const Batch& a, int half, bool adds) {
      const u64 b = TileB::descriptor(memory + kOfB + at.stage * TileB::kBytes);
      u64 steps_b[kOfBatch];
#pragma unroll
      for (int i = 0; i < kOfBatch; ++i) steps_b[i] = b + TileB::step(0, half * kOfBatch + i);
      wgmma_fence();
      Mma::multiply(d, a, steps_b, adds);
      wgmma_commit();
      wgmma_wait<1>();
    };
    Batch a[2][2];
    ring.wait(at);
    load(a[0][0], at, 0);
    load(a[0][1], at, 1);
    State before = at;
    i32 k = 0;
    const auto step = [&](Batch(&own)[2], Batch(&next)[2]) {
      State ahead = at;
      ahead.advance();
      multiply(own[0], 0, k > 0);
      if (k > 0) release(ring, before, role, thread % 32);
      if (k + 1 < role.steps) ring.wait(ahead);  // else nothing that is used is loaded
      load(next[0], ahead, 0);
      multiply(own[1], 1, true);
      load(next[1], ahead, 1);
      before = at;
      at = ahead;
    };
#pragma unroll 1
    for (;;) {
      step(a[0], a[1]);
      if (++k == role.steps) break;
      step(a[1], a[0]);
      if (++k == role.steps) break;
    }
    wgmma_wait<0>();
    release(ring, before, role, thread % 32);
    pin(d);
  }

  // All steps of a tile. The first one clears, so that this is a constant everywhere. One batch
  // stays in flight: its stage is released after the next one has been issued.
  template <class Params>
  static TILE_DEVICE void multiply_tile(const Params& p, Sum (&d)[kHeight][Mma::kC], Rows& rows,
                                        u32 memory, Ring ring, State& at, const Role& role,
                                        u32 part, u32 thread) {
    const u32 own = memory + kHeight * part * (64 * 128);  // rows of the first stage
    const auto a = [&](State state) {
      return TileA::descriptor(memory + state.stage * TileA::kBytes) +
             TileA::step(1, 0) * (kHeight * part);
    };
    const auto b = [&](State state) {
      return TileB::descriptor(memory + kOfB + state.stage * TileB::kBytes);
    };
    ring.wait(at);
    multiply_stage<true>(d, a(at), b(at));
    rows.add(p, own + at.stage * TileA::kBytes, thread);
    State before = at;
    at.advance();
#pragma unroll 1
    for (i32 k = 1; k < role.steps; ++k, at.advance()) {
      ring.wait(at);
      multiply_stage<false>(d, a(at), b(at));
      rows.add(p, own + at.stage * TileA::kBytes, thread);
      wgmma_wait<1>();
      release(ring, before, role, thread);
      before = at;
    }
    wgmma_wait<0>();
    release(ring, before, role, thread);
#pragma unroll
    for (int i = 0; i < kHeight; ++i) pin(d[i]);
  }

  // A stage's parity says which of two phases has ended, so that a warpgroup waits for its stages
  // only when the other one has had all stages before them.
  static TILE_DEVICE void wait_for_turn(u32 number) {
    if (number == 0) {
      named_barrier_sync<1, 256>();
    } else {
      named_barrier_sync<2, 256>();
    }
  }
  static TILE_DEVICE void end_turn(u32 number) {
    if (number == 0) {
      named_barrier_arrive<2, 256>();
    } else {
      named_barrier_arrive<1, 256>();
    }
  }

  template <class Params>
  static TILE_DEVICE void consume(const Params& p, u32 memory, unsigned char* sums, Ring ring,
                                  const Role& role, u32 consumer) {
    const u32 thread = threadIdx.x % 128, warp = warp_index() % 4;
    const u32 part = consumer % kTogether;  // of a tile
    unsigned char* const own = sums + (consumer * 4 + warp) * Finish::kBytes;
    const i32 first_row = (part * kHeight * 4 + warp) * 16;
    constexpr u32 turns = Work::kConsumers / kTogether;
    const u32 step = gridDim.x / kBlocks, first = consumer / kTogether;
    State at;
    if constexpr (Work::kTakeTurns) {
      static_assert(Work::kConsumers == 2, "two take turns");
      at.advance(first * u32(role.steps));
      if (first == 1) named_barrier_arrive<1, 256>();  // the first one begins
    }
    const u32 count = Work::count(p);
#pragma unroll 1
    for (u32 t = blockIdx.x / kBlocks + first * step; t < count; t += turns * step) {
      Sum d[kHeight][Mma::kC];
      Rows rows;
      Operands operands;
      if constexpr (kAhead)
        operands.load(p, Work::tile_at(p, t, role.row, role.column), first_row, 0, thread % 32);
      if (Work::kMayBeEmpty && role.steps == 0) {
#pragma unroll
        for (int i = 0; i < kHeight; ++i) clear(d[i]);
      } else {
        if constexpr (Work::kTakeTurns) wait_for_turn(first);
        if constexpr (Work::kLoadsA) {
          multiply_loaded_tile(d[0], memory, ring, at, role, part, thread);
        } else {
          multiply_tile(p, d, rows, memory, ring, at, role, part, thread);
        }
        if constexpr (Work::kTakeTurns) {
          if (t + step < count) end_turn(first);
        }
      }
      if constexpr (kSplits > 1) {
        if (!Splits::add(d, memory, ring.barriers + Ring::kBytes, consumer * 4 + warp, role.part,
                         role.column * kCluster + role.row, kOfPart, thread % 32)) {
          return;
        }
      }
      rows.finish();
      const auto tile = Work::tile_at(p, t, role.row, role.column);
      if constexpr (kAhead) {
        Finish::template finish_with<true>(p, tile, d, rows, operands, own, first_row, thread % 32);
      } else {
        Finish::finish(p, tile, d, rows, own, first_row, thread % 32);
      }
      if constexpr (Work::kTakeTurns) at.advance((turns - 1) * u32(role.steps));
    }
  }
};

template <class Work, class Params>
TILE_DEVICE void multiply_by_warpgroups(const Params& p, unsigned char* memory) {
  using Matmul = WarpgroupMatmul<Work>;
  const u32 start = shared_address(memory), warp = warp_index();
  const typename Matmul::Ring ring{start + Matmul::kOfBarriers};
  u32 rank = 0;
  if constexpr (Matmul::kBlocks > 1) asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  const auto role = Matmul::Producer::role_of(p, rank);
  if (warp == 0 && elect_one()) {
    ring.init(1, Matmul::kTogether * Matmul::kBringing * Matmul::kReleases);
    if constexpr (Matmul::kSplits > 1) {
      Matmul::Splits::init(start + Matmul::kOfBarriers + Matmul::Ring::kBytes, role.part);
    }
    prefetch_tensor_map(Work::BoxesA::map(p, 0, 0));
    prefetch_tensor_map(Work::BoxesB::map(p, 0, 0));
    if constexpr (Work::kProducts > 1)
      prefetch_tensor_map(Work::BoxesB::map(p, Work::BoxesB::kBoxes - 1, 0));
  }
  follow_previous_kernel();
  if constexpr (Matmul::kBlocks == 1) {
    __syncthreads();
  } else {
    cluster_arrive();  // the barriers' own fence publishes them
    cluster_wait();
  }
  using Registers = RegistersOf<Work::kConsumers>;
  if (warp < 4) {
    release_registers<Registers::kProducer>();
    if (warp == 0 && elect_one()) Matmul::Producer::produce(p, start, ring, role);
  } else {
    take_registers<Registers::kConsumer>();
    Matmul::consume(p, start, memory + Matmul::kOfSums, ring, role, warp / 4 - 1);
  }
}

}  // namespace tile
