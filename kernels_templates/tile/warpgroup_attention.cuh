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
// Three overlaps keep the tensor cores busy during softmax: the warpgroups take turns to issue
// products; the scores of a block are issued before the previous block's weights * V; and so are
// those of a tile's first block before the last weights * V of the tile before.
#pragma once

#include "tile/attention_rings.cuh"
#include "tile/barrier.cuh"
#include "tile/dependent.cuh"
#include "tile/grid_tile.cuh"
#include "tile/key_walk.cuh"
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
  using Walk = KeyWalk<Work, Params, Tile>;
  using Odd = OddValues<Work>;
  using Rings = AttentionRings<Work>;
  using RingOfQ = typename Rings::RingOfQ;
  using Ring = typename Rings::Ring;
  using RingOfChecks = typename Rings::RingOfChecks;
  static constexpr int kScores = Scores::kC, kOutputs = Values::kC;  // registers of a thread
  static constexpr int kSteps = Work::kKeys / 16;                    // of weights * V
  static constexpr int kDepthSteps = Work::kColumns / 16;            // of Q * K
  static constexpr bool kHasChecks = Rings::kHasChecks;
  static constexpr i32 kMasked = Rings::kMasked, kBegins = Rings::kBegins, kEnd = Rings::kEnd;

  static constexpr u32 kOfK = Work::kStagesOfQ * TileQ::kBytes;
  static constexpr u32 kOfV = kOfK + Work::kStages * TileK::kBytes;
  static constexpr u32 kOfSums = kOfV + Work::kStages * TileV::kBytes;
  static constexpr u32 kOfBarriers = kOfSums + Work::kConsumers * 4 * Finish::kBytes;

  struct States {
    typename RingOfQ::State q;
    typename Ring::State k, v;
    typename RingOfChecks::State checks;
  };

  template <class Source>
  static TILE_DEVICE void load(const Params& p, const Tile& tile, i32 first, u32 to, u32 barrier) {
#pragma unroll
    for (int i = 0; i < Source::kBoxes; ++i) {
      load_box(to + i * Source::kBoxBytes, Source::map(p), Source::box(tile, i, first), barrier);
    }
  }

  // The warp that fills the rings, by its first lane.
  static TILE_DEVICE void produce(const Params& p, u32 memory, const Rings& rings) {
    const bool leads = threadIdx.x == 0;
    States at;
    const u32 count = Work::count(p);
#pragma unroll 1
    for (u32 t = blockIdx.x; t < count; t += gridDim.x, at.q.advance()) {
      const Tile tile = Work::tile_at(p, t);
      if (leads) {
        rings.q.acquire(at.q);
        rings.q.expect(at.q, TileQ::kBytes);
        load<typename Work::BoxesQ>(p, tile, 0, memory + at.q.stage * TileQ::kBytes,
                                    rings.q.full(at.q));
      }
      Walk walk(p, tile);
      i32 begins = kBegins;
#pragma unroll 1
      do {
        if (leads) bring(p, tile, walk, begins, memory, rings, at.k);
        begins = 0;
        at.k.advance();
      } while (walk.next(p, tile));
    }
    if (!leads) return;
    rings.k.acquire(at.k);
    Rings::note(rings.notes_of_k(), at.k, kEnd);
    rings.k.commit(at.k);
    rings.v.acquire(at.k);
    Rings::note(rings.notes_of_v(), at.k, kEnd);
    rings.v.commit(at.k);
  }

  static TILE_DEVICE void bring(const Params& p, const Tile& tile, const Walk& walk, i32 begins,
                                u32 memory, const Rings& rings, typename Ring::State at) {
    const i32 first = walk.first_key(), what = first | begins | (walk.is_masked() ? kMasked : 0);
    rings.k.acquire(at);
    Rings::note(rings.notes_of_k(), at, what);
    rings.k.expect(at, TileK::kBytes);
    load<typename Work::BoxesK>(p, tile, first, memory + kOfK + at.stage * TileK::kBytes,
                                rings.k.full(at));
    rings.v.acquire(at);
    Rings::note(rings.notes_of_v(), at, what);
    rings.v.expect(at, TileV::kBytes);
    load<typename Work::BoxesV>(p, tile, first, memory + kOfV + at.stage * TileV::kBytes,
                                rings.v.full(at));
  }

  static TILE_DEVICE bool is_checked(i32 what) {
    return Work::kChecks == Checks::all || (kHasChecks && (what & kMasked) != 0);
  }

  // The warps beside it, which replace odd values.
  static TILE_DEVICE void check(u32 memory, const Rings& rings) {
    States at;
    const u32 thread = threadIdx.x - 32;
#pragma unroll 1
    for (;; at.v.advance()) {
      rings.v.wait(at.v);
      const i32 what = Rings::noted(rings.notes_of_v(), at.v);
      if (what == kEnd) return;
      if (is_checked(what)) {
        rings.checks.acquire(at.checks);
        Odd::find(memory + kOfV + at.v.stage * TileV::kBytes,
                  rings.odd_keys + at.checks.stage * Odd::kBytes, thread);
        rings.checks.commit(at.checks);
        at.checks.advance();
      }
      if (thread % 32 == 0) rings.v.release(at.v);
    }
  }

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

  // A thread's place, which it asks for again instead of keeping it in registers.
  struct Place {
    float factor;  // of all scores

    // The scale is a part of the exponent if it is positive.
    TILE_DEVICE bool is_folded() const { return factor > 0; }
    TILE_DEVICE float scale() const { return (is_folded() ? factor : 1.f) * Work::kBase; }
    static TILE_DEVICE u32 thread() {
      u32 number;
      asm volatile("mov.u32 %0, %%tid.x;" : "=r"(number));
      return number - 128;
    }
    static TILE_DEVICE u32 lane() { return thread() % 32; }
    // The thread that releases stages for its warpgroup.
    static TILE_DEVICE bool releases() { return thread() % 128 == 0; }
    // Of the thread's first element, in the tile and in a block.
    static TILE_DEVICE i32 row() { return i32(thread() / 32 * 16 + thread() % 32 / 4); }
    static TILE_DEVICE i32 column() { return i32(thread() % 4 * 2); }
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
                   sums + (Place::thread() / 32) * Finish::kBytes, i32(Place::thread() / 32 * 16),
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

  // One step issues the scores of a block, then weights * V of the block before, which may be of
  // another tile. The first step has no block before: what it multiplies is dropped. The last one
  // has no block: its scores are dropped. So there is one copy of everything.
  static TILE_DEVICE void consume(const Params& p, u32 memory, unsigned char* sums,
                                  const Rings& rings, const Place& place, u32 consumer) {
    float s[kScores], factor[2], o[1][kOutputs];
    u32 w[kSteps][4];
    SoftmaxRows rows;
    States at;
    Tile tile = Work::tile_at(p, blockIdx.x);
    Terms terms[2];
    u32 t = blockIdx.x;
    i32 before = 0;  // what the block before is
    bool has_block = true, has_before = false;
    clear(o[0]);
    rows.clear();
#pragma unroll
    for (int j = 0; j < kSteps; ++j) {
#pragma unroll
      for (u32& word : w[j]) word = 0;
    }
    if (consumer == 0) named_barrier_arrive<4, 256>();  // the first turn
#pragma unroll 1
    do {
      rings.k.wait(at.k);
      const i32 what = Rings::noted(rings.notes_of_k(), at.k);
      has_block = what != kEnd;
      const bool begins = !has_block || (what & kBegins) != 0;
      u32 next = t;
      if (begins) {
        if (has_before) {
          if (place.releases()) rings.q.release(at.q);
          at.q.advance();
          next += gridDim.x;
        }
        if (has_block) {
          tile = Work::tile_at(p, next);
#pragma unroll
          for (int e = 0; e < 2; ++e) terms[e].load(p, tile, i32(tile.m) + place.row() + 8 * e);
          rings.q.wait(at.q);
        }
      }
      if (has_before) {
        rings.v.wait(at.v);
        if constexpr (kHasChecks) {
          if (is_checked(before)) rings.checks.wait(at.checks);
        }
      }
      const u64 q =
          TileQ::descriptor(memory + at.q.stage * TileQ::kBytes) + TileQ::step(1, 0) * consumer;
      take_turn(consumer);
      issue_scores(s, q, TileK::descriptor(memory + kOfK + at.k.stage * TileK::kBytes));
      issue_values(o[0], w, TileV::descriptor(memory + kOfV + at.v.stage * TileV::kBytes));
      pass_turn(consumer);
      wgmma_wait<1>();  // the scores are there, the values still run
      pin(s);
      const SoftmaxRows done = rows;
      if (has_block) {
        if (place.releases()) rings.k.release(at.k);
        at.k.advance();
        if (begins) rows.clear();
        score(p, tile, terms, place, what, s);
        rows.take(s, factor, place.scale());
      }
      wgmma_wait<0>();
      pin(o[0]);
#pragma unroll
      for (int j = 0; j < kSteps; ++j) pin(w[j]);
      pack(w, s);
      if (has_before) {
        if (place.releases()) rings.v.release(at.v);
        at.v.advance();
        if constexpr (kHasChecks) {
          if (is_checked(before)) add_odd_values(p, t, before, place, rings, at.checks, o[0]);
        }
      }
      if (begins) {
        if (has_before) finish(p, t, place, done, o, sums);
        clear(o[0]);
      } else {
#pragma unroll
        for (int i = 0; i < kOutputs; ++i) o[0][i] *= factor[i / 2 % 2];
      }
      t = next;
      before = what;
      has_before = true;
    } while (has_block);
  }
};

template <class Work, class Params>
TILE_DEVICE void attend_by_warpgroups(const Params& p, unsigned char* memory) {
  using Attention = WarpgroupAttention<Work, Params>;
  constexpr int kRegisters = Work::kConsumers == 2 ? 232 : 160;
  const u32 start = shared_address(memory), warp = warp_index();
  const typename Attention::Rings rings(start + Attention::kOfBarriers);
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
      Attention::produce(p, start, rings);
    } else if (Attention::kHasChecks) {
      Attention::check(start, rings);
    }
  } else {
    take_registers<kRegisters>();
    const typename Attention::Place place = {Work::ScoreFormula::scale(p)};
    Attention::consume(p, start, memory + Attention::kOfSums, rings, place, warp / 4 - 1);
  }
}

}  // namespace tile
