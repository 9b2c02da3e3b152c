// Attention by the warpgroups of a block, tile after tile of queries. Target: sm_90a. Work, which
// the library writes, has
//
//   kM, kN, kKeys                      queries of a tile, columns of the output, keys of a block
//   kStages, kConsumers                of the rings of K and V; warpgroups that multiply, two
//   Element                            of the operands; bf16 or f16
//   MmaScores, Product                 the instructions of Q * K and of weights * V
//   SharedQ, SharedK, SharedV          the operands in shared memory
//   BoxesQ, BoxesK, BoxesV             where their boxes lie, as in tile/warpgroup_matmul.cuh
//   extent_k(p), count(p)              the number of keys, and of tiles
//   tile_at(p, number)                 Tile: where a tile lies
//   mask(p, tile, first, last)         see tile/key_walk.cuh
//   kBase                              log2 of the base of the exponential
//   ScoreFormula                       kPlain; score(p, tile, query, key, sum), without the scale;
//                                      scale(p) of all scores; and sees(p, tile, query, key),
//                                      whether the mask leaves the key
//   Finish                             what becomes of the output (tile/sums_by_words.cuh, ..)
//
//   shared memory:  Q | K[kStages] | V[kStages] | outputs of each warp on their way | barriers
//
// Two overlaps keep the tensor cores busy during softmax: the warpgroups take turns to issue
// products, and the scores of a block are issued before the previous block's weights * V.
#pragma once

#include "tile/barrier.cuh"
#include "tile/dependent.cuh"
#include "tile/grid_tile.cuh"
#include "tile/key_walk.cuh"
#include "tile/named_barrier.cuh"
#include "tile/online_softmax.cuh"
#include "tile/packed.cuh"
#include "tile/pipeline.cuh"
#include "tile/roles.cuh"
#include "tile/tensor_map.cuh"
#include "tile/wgmma.cuh"

namespace tile {

template <class Work, class Params>
struct WarpgroupAttention {
  using Scores = typename Work::MmaScores;
  using Formula = typename Work::ScoreFormula;
  using Values = typename Work::Product;
  using TileQ = typename Work::SharedQ;
  using TileK = typename Work::SharedK;
  using TileV = typename Work::SharedV;
  using Tile = decltype(Work::tile_at(*static_cast<const Params*>(nullptr), 0u));
  using Finish = typename Work::Finish;
  using Walk = KeyWalk<Work, Params, Tile>;
  using Ring = Pipeline<Work::kStages>;
  using State = typename Ring::State;
  using RingOfQ = Pipeline<1>;
  using StateOfQ = RingOfQ::State;
  static constexpr int kScores = Scores::kC, kOutputs = Values::kC;  // registers of a thread
  static constexpr int kSteps = Work::kKeys / 16;                    // of weights * V
  static constexpr int kDepthSteps = Work::kColumns / 16;            // of Q * K

  static constexpr u32 kOfK = TileQ::kBytes;
  static constexpr u32 kOfV = kOfK + Work::kStages * TileK::kBytes;
  static constexpr u32 kOfSums = kOfV + Work::kStages * TileV::kBytes;
  static constexpr u32 kOfBarriers = kOfSums + Work::kConsumers * 4 * Finish::kBytes;

  struct Rings {
    RingOfQ q;
    Ring k, v;
    TILE_DEVICE explicit Rings(u32 start)
        : q{start}, k{start + RingOfQ::kBytes}, v{start + RingOfQ::kBytes + Ring::kBytes} {}
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
    State at;
    StateOfQ of_q;
    const u32 count = Work::count(p);
#pragma unroll 1
    for (u32 t = blockIdx.x; t < count; t += gridDim.x, of_q.advance()) {
      const Tile tile = Work::tile_at(p, t);
      if (leads) {
        rings.q.acquire(of_q);
        rings.q.expect(of_q, TileQ::kBytes);
        load<typename Work::BoxesQ>(p, tile, 0, memory, rings.q.full(of_q));
      }
      Walk walk(p, tile);
#pragma unroll 1
      for (; walk.next(); at.advance()) {
        if (!leads) continue;
        rings.k.acquire(at);
        rings.k.expect(at, TileK::kBytes);
        load<typename Work::BoxesK>(p, tile, walk.first_key(),
                                    memory + kOfK + at.stage * TileK::kBytes, rings.k.full(at));
        rings.v.acquire(at);
        rings.v.expect(at, TileV::kBytes);
        load<typename Work::BoxesV>(p, tile, walk.first_key(),
                                    memory + kOfV + at.stage * TileV::kBytes, rings.v.full(at));
      }
    }
  }

  // Barrier w is the turn of consumer w - 1; ids are constants, so that only two are reserved.
  static TILE_DEVICE void take_turn(u32 consumer) {
    if (consumer == 0) {
      named_barrier_sync<1, 256>();
    } else {
      named_barrier_sync<2, 256>();
    }
  }
  static TILE_DEVICE void pass_turn(u32 consumer) {
    if (consumer == 0) {
      named_barrier_arrive<2, 256>();
    } else {
      named_barrier_arrive<1, 256>();
    }
  }

  // What a thread knows of its place, and of the tile.
  struct Place {
    i32 row, column;  // of the thread's first element, in the tile and in a block
    u32 consumer;
    bool releases;  // the thread that releases stages for its warpgroup
    float factor, scale;
    bool is_folded;  // the scale is part of the exponent
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
  static TILE_DEVICE void score(const Params& p, const Tile& tile, const Place& place,
                                const Walk& walk, float (&s)[kScores]) {
    const i32 query = i32(tile.m) + place.row, key = walk.first_key() + place.column;
    if constexpr (!Formula::kPlain) {
#pragma unroll
      for (int i = 0; i < kScores; ++i) {
        s[i] = Formula::score(p, tile, query + i / 2 % 2 * 8, key + i / 4 * 8 + i % 2, s[i]);
      }
    }
    if (!place.is_folded) {
#pragma unroll
      for (int i = 0; i < kScores; ++i) s[i] *= place.factor;
    }
    if (walk.is_masked()) {
      const i32 end = i32(Work::extent_k(p));
#pragma unroll
      for (int i = 0; i < kScores; ++i) {
        const i32 x = key + i / 4 * 8 + i % 2;
        if (x >= end || !Formula::sees(p, tile, query + i / 2 % 2 * 8, x)) s[i] = -math::inf_f32();
      }
    }
  }

  static TILE_DEVICE void pack(u32 (&w)[kSteps][4], const float (&s)[kScores]) {
#pragma unroll
    for (int i = 0; i < kScores / 2; ++i)
      pack_word<typename Work::Element>(w[i / 4][i % 4], s + 2 * i);
  }

  // All blocks of keys that a tile sees: o is the sum of weights * V, rows have what to divide by.
  static TILE_DEVICE void attend(const Params& p, const Tile& tile, const Place& place, u32 memory,
                                 const Rings& rings, State& k, State& v, StateOfQ& of_q,
                                 float (&o)[kOutputs], SoftmaxRows& rows) {
    float s[kScores], factor[2];
    u32 w[kSteps][4];
    Walk walk(p, tile);
    clear(o);
    rows.clear();
    rings.q.wait(of_q);
    const u64 q = TileQ::descriptor(memory) + TileQ::step(1, 0) * place.consumer;
    const auto keys = [&] { return TileK::descriptor(memory + kOfK + k.stage * TileK::kBytes); };
    const auto values = [&] { return TileV::descriptor(memory + kOfV + v.stage * TileV::kBytes); };
    const bool sees_any = walk.next();
    if (sees_any) {
      rings.k.wait(k);
      issue_scores(s, q, keys());
      wgmma_wait<0>();
      pin(s);
      if (place.releases) rings.k.release(k);
      k.advance();
      score(p, tile, place, walk, s);
      rows.take(s, factor, place.scale);
      pack(w, s);
#pragma unroll 1
      for (; walk.next(); k.advance(), v.advance()) {
        rings.k.wait(k);
        take_turn(place.consumer);
        issue_scores(s, q, keys());
        rings.v.wait(v);
        issue_values(o, w, values());
        pass_turn(place.consumer);
        wgmma_wait<1>();  // the scores are there, the values still run
        pin(s);
        if (place.releases) rings.k.release(k);
        score(p, tile, place, walk, s);
        rows.take(s, factor, place.scale);
        wgmma_wait<0>();
        if (place.releases) rings.v.release(v);
        pin(o);
#pragma unroll
        for (int j = 0; j < kSteps; ++j) pin(w[j]);
        pack(w, s);
#pragma unroll
        for (int i = 0; i < kOutputs; ++i) o[i] *= factor[i / 2 % 2];
      }
    }
    if (place.releases) rings.q.release(of_q);
    of_q.advance();
    if (!sees_any) return;
    rings.v.wait(v);
    issue_values(o, w, values());
    wgmma_wait<0>();
    if (place.releases) rings.v.release(v);
    v.advance();
    pin(o);
  }

  static TILE_DEVICE void consume(const Params& p, u32 memory, unsigned char* sums,
                                  const Rings& rings, u32 consumer) {
    const u32 thread = threadIdx.x % 128, lane = thread % 32, warp = warp_index() % 4;
    const i32 first_row = i32(consumer * 64 + warp * 16);
    const float factor = Formula::scale(p);
    const bool is_folded = factor > 0;
    const Place place = {first_row + i32(lane / 4),
                         i32(lane % 4 * 2),
                         consumer,
                         thread == 0,
                         factor,
                         (is_folded ? factor : 1.f) * Work::kBase,
                         is_folded};
    State k, v;
    StateOfQ of_q;
    if (consumer == 0) named_barrier_arrive<1, 256>();  // the first turn
    const u32 count = Work::count(p);
#pragma unroll 1
    for (u32 t = blockIdx.x; t < count; t += gridDim.x) {
      const Tile tile = Work::tile_at(p, t);
      float o[1][kOutputs];
      SoftmaxRows rows;
      attend(p, tile, place, memory, rings, k, v, of_q, o[0], rows);
      rows.finish();
      // Without keys there is nothing to add up, and the output is 0.
      const bool is_empty = Work::extent_k(p) == 0;
      const float inverse[2] = {is_empty ? 0.f : 1.f / rows.sum[0],
                                is_empty ? 0.f : 1.f / rows.sum[1]};
#pragma unroll
      for (int i = 0; i < kOutputs; ++i) o[0][i] *= inverse[i / 2 % 2];
      Finish::finish(p, tile, o, sums + (consumer * 4 + warp) * Finish::kBytes, first_row, lane);
    }
  }
};

template <class Work, class Params>
TILE_DEVICE void attend_by_warpgroups(const Params& p, unsigned char* memory) {
  using Attention = WarpgroupAttention<Work, Params>;
  const u32 start = shared_address(memory), warp = warp_index();
  const typename Attention::Rings rings(start + Attention::kOfBarriers);
  if (threadIdx.x == 0) {
    rings.q.init(1, Work::kConsumers);
    rings.k.init(1, Work::kConsumers);
    rings.v.init(1, Work::kConsumers);
    prefetch_tensor_map(Work::BoxesQ::map(p));
    prefetch_tensor_map(Work::BoxesK::map(p));
    prefetch_tensor_map(Work::BoxesV::map(p));
  }
  follow_previous_kernel();
  __syncthreads();
  if (warp < 4) {
    release_registers<40>();
    if (warp == 0) Attention::produce(p, start, rings);
  } else {
    take_registers<232>();
    Attention::consume(p, start, memory + Attention::kOfSums, rings, warp / 4 - 1);
  }
}

}  // namespace tile
