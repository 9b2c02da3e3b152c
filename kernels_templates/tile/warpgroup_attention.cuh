// Attention by the warpgroups of a block, tile after tile of queries. Target: sm_90a. Work, which
// the library writes, has
//
//   kM, kN, kKeys                      queries of a tile, columns of the output, keys of a block
//   kStagesOfQ, kStages, kConsumers    of Q, of the rings of K and V; warpgroups that multiply
//   Element                            of the operands; bf16 or f16
//   MmaScores, Product                 the instructions of Q * K and of weights * V
//   SharedQ, SharedK, SharedV          the operands in shared memory
//   BoxesQ, BoxesK, BoxesV             where their boxes lie, as in tile/warpgroup_matmul.cuh
//   extent_k(p)                        the number of keys
//   rows(p), heads(p)                  tiles below each other, and how many times
//   tile_at(p, number)                 Tile: where tile row + rows(p) * head lies
//   kMayBeCut                          whether the last block of keys may have fewer than others
//   kHasMask, mask(..), MaskTensors    see tile/key_walk.cuh
//   tickets(p)                         with a mask, a counter in memory (tile/key_blocks.cuh)
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
//                   windows of the mask | barriers | keys with odd values
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
  using Blocks = KeyBlocks<Work, Params>;

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

  static TILE_DEVICE ScorePlace place_of(const Tile& tile, const Place& place, i32 first_key,
                                         int i) {
    const i32 query = i32(tile.m) + place.row(), key = first_key + place.column();
    const i32 below = i / 2 % 2 * 8, beside = i / 4 * 8 + i % 2;
    return {query + below, key + beside, float(query) + float(below), float(key) + float(beside)};
  }

  // From sums of products to scores: the formula, then what few blocks need.
  template <bool kMayBeMasked>
  static TILE_DEVICE void score(const Params& p, const Tile& tile, const Terms (&terms)[2],
                                const Place& place, const KeyBlock& block, float (&s)[kScores]) {
    if constexpr (!Formula::kPlain) {
#pragma unroll
      for (int i = 0; i < kScores; ++i) {
        s[i] = Formula::score(p, tile, terms[i / 2 % 2], place_of(tile, place, block.first_key, i),
                              s[i]);
      }
    }
    const bool is_masked = kMayBeMasked && block.is_masked;
    if (!is_masked && place.is_folded()) return;
    if (!place.is_folded()) {
#pragma unroll
      for (int i = 0; i < kScores; ++i) s[i] *= place.factor;
    }
    if (!is_masked) return;
    const i32 end = i32(Work::extent_k(p));
#pragma unroll
    for (int i = 0; i < kScores; ++i) {
      const ScorePlace at = place_of(tile, place, block.first_key, i);
      // Both sides are evaluated: a branch for each score would cost more.
      const bool is_seen =
          (!Work::kMayBeCut || at.key < end) & Formula::sees(p, tile, terms[i / 2 % 2], at);
      s[i] = is_seen ? s[i] : -math::inf_f32();
    }
  }

  static TILE_DEVICE void rescale(float (&o)[kOutputs], const float (&factor)[2]) {
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) o[i] *= factor[i / 2 % 2];
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
  static TILE_DEVICE void add_odd_values(const Params& p, const KeyBlock& block, const Place& place,
                                         const Rings& rings, typename RingOfChecks::State& at,
                                         float (&o)[kOutputs]) {
    if (!kHasChecks || !Rings::is_checked(block)) return;
    const u32 bits = rings.odd_keys + at.stage * Odd::kBytes;
    if (Odd::any(bits))
      Odd::add(p, Work::tile_at(p, block.tile), bits, block.first_key, place.row(), place.column(),
               o);
    __syncwarp();
    if (place.lane() == 0) rings.checks.release(at);
    at.advance();
  }

  // Waits for the values of a block, and that they have been checked.
  static TILE_DEVICE void wait_for_values(const Rings& rings, const States& at,
                                          const KeyBlock& block) {
    rings.v.wait(at.v);
    if constexpr (kHasChecks) {
      if (Rings::is_checked(block)) rings.checks.wait(at.checks);
    }
  }
  // Where the operands lie of the products that are issued next. They are known before a warpgroup
  // gets its turn, since the tensor cores wait from then on.
  struct Operands {
    u32 memory, q, k, v;  // the lower words of descriptors

    TILE_DEVICE explicit Operands(u32 memory) : memory(memory) {
      k = u32(TileK::descriptor(memory + Memory::kOfK));
      v = u32(TileV::descriptor(memory + Memory::kOfV));
    }
    TILE_DEVICE void set_q(const States& at, u32 consumer) {
      q = u32(TileQ::descriptor(memory + at.q.stage * TileQ::kBytes) +
              TileQ::step(1, 0) * consumer);
      asm volatile("" : "+r"(q));  // so that it is not computed again for each block
    }
    TILE_DEVICE void advance_k(States& at) {
      at.k.advance();
      k = at.k.stage == 0 ? u32(TileK::descriptor(memory + Memory::kOfK)) : k + TileK::kBytes / 16;
    }
    TILE_DEVICE void advance_v(States& at) {
      at.v.advance();
      v = at.v.stage == 0 ? u32(TileV::descriptor(memory + Memory::kOfV)) : v + TileV::kBytes / 16;
    }
    template <class Shared>
    static TILE_DEVICE u64 whole(u32 low) {
      return (Shared::descriptor(0) >> 32 << 32) | low;
    }
  };
  static TILE_DEVICE void load_terms(const Params& p, u32 number, const Place& place, Tile& tile,
                                     Terms (&terms)[2]) {
    tile = Work::tile_at(p, number);
#pragma unroll
    for (int e = 0; e < 2; ++e) terms[e].load(p, tile, i32(tile.m) + place.row() + 8 * e);
  }
  // From the scores of a block to its weights. Between the maximum and the exponentials it calls
  // `wait`.
  template <bool kMayBeMasked, class Wait>
  static TILE_DEVICE void weigh(const Params& p, const Tile& tile, const Terms (&terms)[2],
                                const Place& place, const KeyBlock& block, const Rings& rings,
                                States& at, Operands& operands, SoftmaxRows& rows,
                                float (&s)[kScores], u32 (&w)[kSteps][4], float (&factor)[2],
                                const Wait& wait) {
    pin(s);
    if (place.releases()) rings.k.release(at.k);
    operands.advance_k(at);
    score<kMayBeMasked>(p, tile, terms, place, block, s);
    rows.grow(s, factor, place.scale());
    wait();
    rows.weigh(s, factor, place.scale());
    pack(w, s);
  }

  // All tiles, one block of keys after another. The first scores of a tile are issued with the last
  // values of the tile before.
  static TILE_DEVICE void consume(const Params& p, u32 memory, unsigned char* sums,
                                  const Rings& rings, const Place& place, u32 consumer) {
    Blocks blocks(p, rings.windows);
    if (blocks.has_ended()) return;
    States at;
    Operands operands(memory);
    operands.set_q(at, consumer);
    float s[kScores], factor[2], o[1][kOutputs];
    u32 w[kSteps][4];
    SoftmaxRows rows;
    Terms terms[2];
    Tile tile;
    KeyBlock block = blocks.block();
    // Scores of `block`, then values of `before`, in turn. Before the first block there are none,
    // and what is added to the outputs is thrown away.
    const auto issue = [&](const KeyBlock& before, bool has_values) {
      rings.k.wait(at.k);
      take_turn(consumer);
      issue_scores(s, Operands::template whole<TileQ>(operands.q),
                   Operands::template whole<TileK>(operands.k));
      if (has_values) wait_for_values(rings, at, before);
      issue_values(o[0], w, Operands::template whole<TileV>(operands.v));
      pass_turn(consumer);
    };
    // Values are released early: the next ones are already wanted.
    const auto wait = [&](bool has_values) {
      wgmma_wait<0>();
      pin(o[0]);
#pragma unroll
      for (int j = 0; j < kSteps; ++j) pin(w[j]);
      if (!has_values) return;
      if (place.releases()) rings.v.release(at.v);
      operands.advance_v(at);
    };
    clear(o[0]);
#pragma unroll
    for (int j = 0; j < kSteps; ++j) clear(w[j]);
    rows.clear();
    bool has_values = false;
    if (consumer == 0) named_barrier_arrive<4, 256>();  // the first turn
#pragma unroll 1
    while (true) {
      KeyBlock before = block;
      const SoftmaxRows ended = rows;
      block = blocks.block();
      rings.q.wait(at.q);
      issue(before, has_values);
      blocks.next(p);
      rows.clear();
      load_terms(p, block.tile, place, tile, terms);
      wgmma_wait<1>();  // the scores are there, the values still run
      weigh<true>(p, tile, terms, place, block, rings, at, operands, rows, s, w, factor,
                  [&] { wait(has_values); });
      if (has_values) {
        add_odd_values(p, before, place, rings, at.checks, o[0]);
        finish(p, before.tile, place, ended, o, sums);
      }
      clear(o[0]);
      has_values = true;
#pragma unroll 1
      while (!blocks.is_first()) {
        before = block;
        block = blocks.block();
        issue(before, true);
        blocks.next(p);
        wgmma_wait<1>();
        weigh<Work::kHasMask>(p, tile, terms, place, block, rings, at, operands, rows, s, w, factor,
                              [&] { wait(true); });
        add_odd_values(p, before, place, rings, at.checks, o[0]);
        rescale(o[0], factor);
      }
      if (place.releases()) rings.q.release(at.q);
      at.q.advance();
      operands.set_q(at, consumer);
      if (blocks.has_ended()) break;
    }
    wait_for_values(rings, at, block);
    issue_values(o[0], w, Operands::template whole<TileV>(operands.v));
    wait(true);
    add_odd_values(p, block, place, rings, at.checks, o[0]);
    finish(p, block.tile, place, rows, o, sums);
  }
};

template <class Work, class Params>
TILE_DEVICE void attend_by_warpgroups(const Params& p, unsigned char* memory) {
  using Attention = WarpgroupAttention<Work, Params>;
  constexpr int kRegisters = Work::kConsumers == 2 ? 232 : 160;
  const u32 start = shared_address(memory), warp = warp_index();
  const typename Attention::Rings rings(start + Attention::Memory::kOfWindows);
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
    } else if (warp == 1) {
      if constexpr (Work::kHasMask) look_for_blocks<Work>(p, rings.windows, Work::tickets(p));
    } else if (Attention::kHasChecks) {
      AttentionProducer<Work, Params>::check(p, start, rings, threadIdx.x - 64);
    }
  } else {
    take_registers<kRegisters>();
    const typename Attention::Place place = {threadIdx.x - 128, Work::ScoreFormula::scale(p)};
    Attention::consume(p, start, memory + Attention::Memory::kOfSums, rings, place, warp / 4 - 1);
  }
}

}  // namespace tile
