// Attention by the warpgroups of a block, tile after tile of queries. Target: sm_90a. Work, which
// the library writes, has
//
//   kM, kN, kKeys                      queries of a tile, columns of the output, keys of a block
//   kStagesOfQ, kStages, kConsumers    of Q, of the rings of K and V; warpgroups that multiply
//   Element                            of the operands; bf16 or f16
//   MmaScores, Product                 the instructions of Q * K and of weights * V
//   SharedQ, SharedK, SharedV          the operands in shared memory
//   BoxesQ, BoxesK, BoxesV             where their boxes lie, as in tile/warpgroup_matmul.cuh
//   extent_k(p), count(p)              the number of keys, and of tiles
//   tile_at(p, number)                 Tile: where a tile lies
//   mask(..), MaskTensors              see tile/key_walk.cuh
//   kChecks                            which blocks may have masked keys with any values (checks)
//   kBase                              log2 of the base of the exponential
//   ScoreFormula                       kPlain; Terms, what it reads of a row: load(p, tile, query);
//                                      score(p, tile, terms, place, sum), without the scale;
//                                      scale(p) of all scores; and sees(p, tile, terms, place),
//                                      whether the mask leaves the key
//   RowFormula                         kPlain; divisor(p, tile, terms, query, maximum, sum) of a
//                                      row's outputs; and store(..), what else becomes of a row
//   Finish                             what becomes of the output (tile/sums_by_words.cuh, ..)
//
//   shared memory:  Q[kStagesOfQ] | K[kStages] | V[kStages] | outputs of each warp on their way |
//                   barriers | keys with odd values | what each stage has
//
// Two overlaps keep the tensor cores busy during softmax: the warpgroups take turns to issue
// products, and the scores of a block are issued before the previous block's weights * V.
#pragma once

#include "tile/attention_producer.cuh"
#include "tile/attention_rings.cuh"
#include "tile/barrier.cuh"
#include "tile/dependent.cuh"
#include "tile/grid_tile.cuh"
#include "tile/named_barrier.cuh"
#include "tile/online_softmax.cuh"
#include "tile/packed.cuh"
#include "tile/roles.cuh"
#include "tile/row_statistics.cuh"
#include "tile/tensor_map.cuh"
#include "tile/wgmma.cuh"

namespace tile {

template <class Work, class Params>
struct WarpgroupAttention {
  using Scores = typename Work::MmaScores;
  using Formula = typename Work::ScoreFormula;
  using OfRow = typename Work::RowFormula;
  using Terms = typename Formula::Terms;
  using Values = typename Work::Product;
  using TileQ = typename Work::SharedQ;
  using TileK = typename Work::SharedK;
  using TileV = typename Work::SharedV;
  using Tile = decltype(Work::tile_at(*static_cast<const Params*>(nullptr), 0u));
  using Finish = typename Work::Finish;
  using Odd = OddValues<Work>;
  using Rings = AttentionRings<Work>;
  using RingOfChecks = typename Rings::RingOfChecks;
  using States = typename Rings::States;
  using Memory = AttentionMemory<Work>;
  static constexpr int kScores = Scores::kC, kOutputs = Values::kC;  // registers of a thread
  static constexpr int kSteps = Work::kKeys / 16;                    // of weights * V
  static constexpr int kDepthSteps = Work::kColumns / 16;            // of Q * K
  static constexpr bool kHasChecks = Rings::kHasChecks;
  static constexpr i32 kMasked = Rings::kMasked, kLast = Rings::kLast, kEnd = Rings::kEnd;

  // The turn to issue goes round the consumers. Numbers of barriers are constants, so that only
  // these are reserved.
  template <int kConsumer = 0>
  static TILE_DEVICE void take_turn(u32 consumer) {
    if constexpr (kConsumer + 1 < Work::kConsumers) {
      if (consumer != kConsumer) return take_turn<kConsumer + 1>(consumer);
    }
    named_barrier_sync<4 + kConsumer, 256>();
  }
  template <int kConsumer = 0>
  static TILE_DEVICE void pass_turn(u32 consumer) {
    if constexpr (kConsumer + 1 < Work::kConsumers) {
      if (consumer != kConsumer) return pass_turn<kConsumer + 1>(consumer);
    }
    named_barrier_arrive<4 + (kConsumer + 1) % Work::kConsumers, 256>();
  }

  // What a thread knows of its place.
  struct Place {
    u32 thread;    // of those that multiply
    float factor;  // of all scores

    // The scale is a part of the exponent if it is positive.
    TILE_DEVICE bool is_folded() const { return factor > 0; }
    TILE_DEVICE float scale() const { return (is_folded() ? factor : 1.f) * Work::kBase; }
    TILE_DEVICE u32 lane() const { return thread % 32; }
    // The thread that releases stages for its warpgroup.
    TILE_DEVICE bool releases() const { return thread % 128 == 0; }
    // Of the thread's first element, in the tile and in a block.
    TILE_DEVICE i32 row() const { return i32(thread / 32 * 16 + thread % 32 / 4); }
    TILE_DEVICE i32 column() const { return i32(thread % 4 * 2); }
  };

  static TILE_DEVICE void issue_scores(float (&s)[kScores], u64 q, u64 k) {
    wgmma_fence();
    Scores::template fma<true>(s, q, k);
#pragma unroll
    for (int j = 1; j < kDepthSteps; ++j)
      Scores::template fma<false>(s, q + TileQ::step(0, j), k + TileK::step(0, j));
    wgmma_commit();
  }

  static TILE_DEVICE void issue_values(float (&o)[kOutputs], const u32 (&w)[kSteps][4], u64 v) {
    pin(o);
    wgmma_fence();
#pragma unroll
    for (int j = 0; j < kSteps; ++j) Values::template fma<false>(o, w[j], v + TileV::step(0, j));
    wgmma_commit();
  }

  // From sums of products to scores: the formula, then the mask.
  static TILE_DEVICE void score(const Params& p, const Tile& tile, const Terms (&terms)[2],
                                const Place& place, i32 what, float (&s)[kScores]) {
    const i32 query = i32(tile.m) + place.row(), key = (what & -32) + place.column();
    const float query_value = float(query), key_value = float(key);
    const auto place_of = [&](int i) {
      const i32 below = i / 2 % 2 * 8, beside = i / 4 * 8 + i % 2;
      return ScorePlace{query + below, key + beside, query_value + float(below),
                        key_value + float(beside)};
    };
    if constexpr (!Formula::kPlain) {
#pragma unroll
      for (int i = 0; i < kScores; ++i)
        s[i] = Formula::score(p, tile, terms[i / 2 % 2], place_of(i), s[i]);
    }
    if (!place.is_folded()) {
#pragma unroll
      for (int i = 0; i < kScores; ++i) s[i] *= place.factor;
    }
    if (what & kMasked) {
      const i32 end = i32(Work::extent_k(p));
#pragma unroll
      for (int i = 0; i < kScores; ++i) {
        const ScorePlace at = place_of(i);
        if (at.key >= end || !Formula::sees(p, tile, terms[i / 2 % 2], at)) s[i] = -math::inf_f32();
      }
    }
  }

  static TILE_DEVICE void pack(u32 (&w)[kSteps][4], const float (&s)[kScores]) {
#pragma unroll
    for (int i = 0; i < kScores / 2; ++i)
      pack_word<typename Work::Element>(w[i / 4][i % 4], s + 2 * i);
  }

  // What becomes of a tile whose rows are complete.
  static TILE_DEVICE void finish(const Params& p, u32 number, const Place& place, SoftmaxRows rows,
                                 float (&o)[1][kOutputs], unsigned char* sums) {
    const Tile tile = Work::tile_at(p, number);
    rows.finish();
    float inverse[2];
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      float divisor = rows.sum[e];
      if constexpr (!OfRow::kPlain) {
        const i32 query = i32(tile.m) + place.row() + 8 * e;
        const float maximum = rows.maximum[e] * (place.is_folded() ? place.factor : 1.f);
        Terms terms;
        terms.load(p, tile, query);
        divisor = OfRow::divisor(p, tile, terms, query, maximum, rows.sum[e]);
        if (place.lane() % 4 == 0 && query < i32(Work::extent_m(p)))
          OfRow::store(p, tile, terms, query, maximum, rows.sum[e]);
      }
      // Without keys there is nothing to add up, and the output is 0.
      inverse[e] = Work::extent_k(p) == 0 ? 0.f : 1.f / divisor;
    }
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) o[0][i] *= inverse[i / 2 % 2];
    Finish::finish(p, tile, o, RowStatistics<Work, 1>(),
                   sums + (place.thread / 32) * Finish::kBytes, i32(place.thread / 32 * 16),
                   place.lane());
  }

  // The values that the checkers took out of the block before, of keys that rows see.
  static TILE_DEVICE void add_odd_values(const Params& p, u32 number, i32 what, const Place& place,
                                         const Rings& rings, typename RingOfChecks::State& at,
                                         float (&o)[kOutputs]) {
    const u32 bits = rings.odd_keys + at.stage * Odd::kBytes;
    if (Odd::any(bits))
      Odd::add(p, Work::tile_at(p, number), bits, what & -32, place.row(), place.column(), o);
    __syncwarp();
    if (place.lane() == 0) rings.checks.release(at);
    at.advance();
  }

  // Waits for the values of a block, and that they have been checked.
  static TILE_DEVICE void wait_for_values(const Rings& rings, const States& at, i32 what) {
    rings.v.wait(at.v);
    if constexpr (kHasChecks) {
      if (Rings::is_checked(what)) rings.checks.wait(at.checks);
    }
  }
  // After the product with them.
  static TILE_DEVICE void leave_values(const Params& p, u32 number, i32 what, const Place& place,
                                       const Rings& rings, States& at, float (&o)[kOutputs]) {
    if (place.releases()) rings.v.release(at.v);
    at.v.advance();
    if constexpr (kHasChecks) {
      if (Rings::is_checked(what)) add_odd_values(p, number, what, place, rings, at.checks, o);
    }
  }

  // All blocks of keys that tile `number` sees: o is the sum of weights * V, rows have what to
  // divide by. `what` is its first block.
  static TILE_DEVICE void attend(const Params& p, u32 number, i32 what, u32 memory,
                                 const Rings& rings, const Place& place, u32 consumer, States& at,
                                 float (&o)[kOutputs], SoftmaxRows& rows) {
    float s[kScores], factor[2];
    u32 w[kSteps][4];
    const Tile tile = Work::tile_at(p, number);
    Terms terms[2];
#pragma unroll
    for (int e = 0; e < 2; ++e) terms[e].load(p, tile, i32(tile.m) + place.row() + 8 * e);
    clear(o);
    rows.clear();
    rings.q.wait(at.q);
    const u64 q =
        TileQ::descriptor(memory + at.q.stage * TileQ::kBytes) + TileQ::step(1, 0) * consumer;
    const auto keys = [&] {
      return TileK::descriptor(memory + Memory::kOfK + at.k.stage * TileK::kBytes);
    };
    const auto values = [&] {
      return TileV::descriptor(memory + Memory::kOfV + at.v.stage * TileV::kBytes);
    };
    issue_scores(s, q, keys());
    wgmma_wait<0>();
    pin(s);
    if (place.releases()) rings.k.release(at.k);
    at.k.advance();
    score(p, tile, terms, place, what, s);
    rows.take(s, factor, place.scale());
    pack(w, s);
    i32 next = 0;
    if ((what & kLast) == 0) {
      rings.k.wait(at.k);
      next = Rings::noted(rings.notes_of_k(), at.k);
    }
#pragma unroll 1
    while ((what & kLast) == 0) {
      const i32 before = what;
      what = next;
      take_turn(consumer);
      issue_scores(s, q, keys());
      wait_for_values(rings, at, before);
      issue_values(o, w, values());
      pass_turn(consumer);
      wgmma_wait<1>();  // the scores are there, the values still run
      pin(s);
      if (place.releases()) rings.k.release(at.k);
      at.k.advance();
      score(p, tile, terms, place, what, s);
      rows.take(s, factor, place.scale());
      if ((what & kLast) == 0) {  // what comes next is known before it is needed
        rings.k.wait(at.k);
        next = Rings::noted(rings.notes_of_k(), at.k);
      }
      wgmma_wait<0>();
      pin(o);
#pragma unroll
      for (int j = 0; j < kSteps; ++j) pin(w[j]);
      pack(w, s);
      leave_values(p, number, before, place, rings, at, o);
#pragma unroll
      for (int i = 0; i < kOutputs; ++i) o[i] *= factor[i / 2 % 2];
    }
    if (place.releases()) rings.q.release(at.q);
    at.q.advance();
    wait_for_values(rings, at, what);
    issue_values(o, w, values());
    wgmma_wait<0>();
    pin(o);
    leave_values(p, number, what, place, rings, at, o);
  }

  static TILE_DEVICE void consume(const Params& p, u32 memory, unsigned char* sums,
                                  const Rings& rings, const Place& place, u32 consumer) {
    States at;
    if (consumer == 0) named_barrier_arrive<4, 256>();  // the first turn
#pragma unroll 1
    for (u32 t = blockIdx.x;; t += gridDim.x) {
      rings.k.wait(at.k);
      const i32 what = Rings::noted(rings.notes_of_k(), at.k);
      if (what == kEnd) return;
      float o[1][kOutputs];
      SoftmaxRows rows;
      attend(p, t, what, memory, rings, place, consumer, at, o[0], rows);
      finish(p, t, place, rows, o, sums);
    }
  }
};

template <class Work, class Params>
TILE_DEVICE void attend_by_warpgroups(const Params& p, unsigned char* memory) {
  using Attention = WarpgroupAttention<Work, Params>;
  constexpr int kRegisters = Work::kConsumers == 2 ? 232 : 160;
  const u32 start = shared_address(memory), warp = warp_index();
  const typename Attention::Rings rings(start + Attention::Memory::kOfBarriers);
  if (threadIdx.x == 0) {
    rings.init();
    prefetch_tensor_map(Work::BoxesQ::map(p));
    prefetch_tensor_map(Work::BoxesK::map(p));
    prefetch_tensor_map(Work::BoxesV::map(p));
  }
  follow_previous_kernel();
  __syncthreads();
  if (warp < 4) {
    release_registers<Work::kConsumers == 2 ? 40 : 32>();
    if (warp == 0) {
      AttentionProducer<Work, Params>::produce(p, start, rings);
    } else if (Attention::kHasChecks) {
      AttentionProducer<Work, Params>::check(start, rings);
    }
  } else {
    take_registers<kRegisters>();
    const typename Attention::Place place = {threadIdx.x - 128, Work::ScoreFormula::scale(p)};
    Attention::consume(p, start, memory + Attention::Memory::kOfSums, rings, place, warp / 4 - 1);
  }
}

}  // namespace tile
