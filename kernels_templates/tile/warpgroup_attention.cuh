// Attention by the warpgroups of a block, tile after tile of queries. Target: sm_90a. Work, which
// the library writes, has
//
//   kM, kN, kKeys                      queries of a tile, columns of the output, keys of a block
//   kStagesOfQ, kStages, kConsumers    of Q, of the rings of K and V; warpgroups that multiply
//   MmaScores, Product                 the instructions of Q * K and of weights * V
//   SharedQ, SharedK, SharedV          the operands in shared memory
//   BoxesQ, BoxesK, BoxesV             where their boxes lie, as in tile/warpgroup_matmul.cuh
//   rows(p), heads(p)                  tiles below each other, and how many times; tile row +
//                                      rows(p) * head is at tile_at(p, ..)
//   kHasMask                           whether there is a mask; then tickets(p), a counter in
//                                      memory (tile/key_blocks.cuh)
//   and what tile/attention_rows.cuh asks for
//
//   shared memory:  Q[kStagesOfQ] | K[kStages] | V[kStages] | outputs of each warp on their way |
//                   windows of the mask | barriers | keys with odd values
//
// Two overlaps keep the tensor cores busy during softmax: the warpgroups take turns to issue
// products, and the scores of a block are issued before the previous block's weights * V.
#pragma once

#include "tile/attention_producer.cuh"
#include "tile/attention_rings.cuh"
#include "tile/attention_rows.cuh"
#include "tile/barrier.cuh"
#include "tile/dependent.cuh"
#include "tile/grid_tile.cuh"
#include "tile/named_barrier.cuh"
#include "tile/packed.cuh"
#include "tile/roles.cuh"
#include "tile/row_statistics.cuh"
#include "tile/tensor_map.cuh"
#include "tile/wgmma.cuh"

namespace tile {

template <class Work, class Params>
struct WarpgroupAttention {
  using Scores = typename Work::MmaScores;
  using Formulas = AttentionRows<Work>;
  using Terms = typename Formulas::Terms;
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
  // Scores that read a tensor leave no registers to anything else before the values' wait.
  static constexpr bool kReadsTensor = Work::kChecks == Checks::all;
  static constexpr int kMostGrowth = kReadsTensor ? 0 : 8;
  // Most blocks are neither the first one of their tile nor masked. Their weights are relative to
  // the reference that earlier blocks have left, without a look at maxima first: exponentials need
  // not wait for all scores of their row. A lane's sum shows afterwards whether a weight may be too
  // large for f16, which ends at 2^16; if so, the block goes the way of others, as do those of
  // plain scores whose mask reads tensors along the keys: NVRTC would take longer than it should.
  static constexpr bool kHasOrdinary =
      !kReadsTensor && !(Work::ScoreFormula::kPlain && Work::MaskTensors::kReadsKeys);
  static constexpr float kMost = 1 << 15;
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
    u32 thread;  // of those that multiply
    Formulas formulas;

    TILE_DEVICE u32 lane() const { return thread % 32; }
    // The thread that releases stages for its warpgroup.
    TILE_DEVICE bool releases() const { return thread % 128 == 0; }
    // Of the thread's first element, in the tile and in a block.
    TILE_DEVICE i32 row() const { return i32(thread / 32 * 16 + thread % 32 / 4); }
    TILE_DEVICE i32 column() const { return i32(thread % 4 * 2); }
  };

  static TILE_DEVICE void issue_scores(float (&s)[kScores], u64 q, u64 k) {
    u64 a[kDepthSteps], b[kDepthSteps];
#pragma unroll
    for (int j = 0; j < kDepthSteps; ++j) {
      a[j] = q + TileQ::step(0, j);
      b[j] = k + TileK::step(0, j);
    }
    wgmma_fence();
    Scores::multiply(s, a, b, false);
    wgmma_commit();
  }

  // o = w * v, and what it was before if `adds`.
  static TILE_DEVICE void issue_values(float (&o)[kOutputs], const u32 (&w)[kSteps][4], u64 v,
                                       bool adds) {
    u64 b[kSteps];
#pragma unroll
    for (int j = 0; j < kSteps; ++j) b[j] = v + TileV::step(0, j);
    pin(o);
    wgmma_fence();
    Values::multiply(o, w, b, adds);
    wgmma_commit();
  }

  static TILE_DEVICE bool is_rescaled(const float (&factor)[2]) {
    return factor[0] != 1 || factor[1] != 1;
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

  static TILE_DEVICE void store(const Params& p, u32 number, const Place& place,
                                const float (&o)[1][kOutputs], unsigned char* sums) {
    Finish::finish(p, Work::tile_at(p, number), o, RowStatistics<Work, 1>(),
                   sums + (place.thread / 32) * Finish::kBytes, i32(place.thread / 32 * 16),
                   place.lane());
  }

  // The values that the checkers took out of the block before, of keys that rows see.
  static TILE_DEVICE void add_odd_values(const Params& p, const KeyBlock& block, const Place& place,
                                         const Rings& rings, typename RingOfChecks::State& at,
                                         float (&o)[1][kOutputs]) {
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
  // Where the operands lie of the products that are issued next, as the lower words of descriptors.
  // They are known before a warpgroup gets its turn, since the tensor cores wait from then on.
  struct Operands {
    u32 memory, q, k, v;

    TILE_DEVICE void set_q(const States& at, u32 consumer) {
      q = u32(TileQ::descriptor(memory + at.q.stage * TileQ::kBytes) +
              TileQ::step(1, 0) * consumer);
      asm volatile("" : "+r"(q));  // so that it is not computed again for each block
    }
    TILE_DEVICE void set_k(const States& at) {
      k = u32(TileK::descriptor(memory + Memory::kOfK)) + at.k.stage * (TileK::kBytes / 16);
    }
    TILE_DEVICE void set_v(const States& at) {
      v = u32(TileV::descriptor(memory + Memory::kOfV)) + at.v.stage * (TileV::kBytes / 16);
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
  static TILE_DEVICE void release_keys(bool releases, const Rings& rings, States& at,
                                       Operands& operands) {
    if (releases) rings.k.release(at.k);
    at.k.advance();
    operands.set_k(at);
  }

  // All tiles, one block of keys after another. The first scores of a tile are issued with the last
  // values of the tile before.
  static TILE_DEVICE void consume(const Params& p, u32 memory, unsigned char* sums,
                                  const Rings& rings, const Place& place, u32 consumer) {
    Blocks blocks(p, rings.windows);
    blocks.next(p);
    if (blocks.has_ended()) return;
    States at;
    at.v = {Work::kStages - 1, 1};  // the first stage comes next
    Operands operands = {memory};
    operands.set_q(at, consumer);
    operands.set_k(at);
    operands.set_v(at);
    float s[kScores], factor[2], inverse[2], o[1][kOutputs];
    u32 w[kSteps][4];
    SoftmaxRows<kMostGrowth> rows;
    const float growth = math::fast_div(kMostGrowth, place.formulas.scale());
    bool grows = false;  // the maxima of the block before did, so that this one's may, too
    Terms terms[2];
    Tile tile;
    KeyBlock block = blocks.block();
    const auto first_query = [&] { return i32(tile.m) + place.row(); };
    const auto first_key = [&] { return block.first_key + place.column(); };
    // Scores of `block`, then values of `before`, in turn. Before the first block there are none,
    // and what is added to the outputs is thrown away; so are scores after the last one.
    const auto issue = [&](const KeyBlock& before, bool has_values, bool adds) {
      take_turn(consumer);
      issue_scores(s, Operands::template whole<TileQ>(operands.q),
                   Operands::template whole<TileK>(operands.k));
      if (has_values) wait_for_values(rings, at, before);
      issue_values(o[0], w, Operands::template whole<TileV>(operands.v), adds);
      pass_turn(consumer);
    };
    const auto finish_values = [&](bool releases) {
      wgmma_wait<0>();
      pin(o[0]);
#pragma unroll
      for (int j = 0; j < kSteps; ++j) pin(w[j]);
      if (releases) rings.v.release(at.v);
      at.v.advance();
      operands.set_v(at);
    };
    // To weights: the maxima of scores, and what follows from them for the outputs and sums.
    const auto find_maxima = [&] {
      const float scale = place.formulas.scale();
      if constexpr (kReadsTensor) {
        rows.grow(s, factor, scale);
      } else {
        rows.note(s);
        factor[0] = factor[1] = 1;
        grows = rows.is_unsettled(growth);
        if (grows) rows.settle(factor, scale);
      }
    };
    // To weights without maxima, relative to the reference that earlier blocks have left: the first
    // kEarly of a lane's. Three warpgroups have registers for fewer beside those that are
    // multiplied, and a mask takes some. They are not packed before the values' wait: ptxas would
    // serialize the products (C7513).
    constexpr int kEarly = kScores / (Work::kConsumers > 2 ? 8 : 2) / (Work::kHasMask ? 2 : 1);
    float early[kEarly], own[2];
    const auto weigh_early = [&] {
      if constexpr (!Formulas::OfRow::kPlain) rows.note(s);
      own[0] = own[1] = 0;
      rows.template weigh_apart<0>(early, s, own, place.formulas.factor * Work::kBase);
      pin(early);  // before the wait
    };
    // The others. Returns whether no weight is too large; if one is, scores and sums are as they
    // were.
    const auto weigh_late = [&] {
      float late[kScores - kEarly];
      rows.template weigh_apart<kEarly>(late, s, own, place.formulas.factor * Work::kBase);
#pragma unroll
      for (int i = 0; i < kScores / 2; ++i) {
        pack_word<typename Work::Element>(w[i / 4][i % 4],
                                          2 * i < kEarly ? early + 2 * i : late + (2 * i - kEarly));
      }
      if (__any_sync(0xffffffffu, !(own[0] <= kMost && own[1] <= kMost))) return false;
      rows.sum[0] += own[0];
      rows.sum[1] += own[1];
      return true;
    };
    clear(o[0]);
#pragma unroll
    for (int j = 0; j < kSteps; ++j) clear(w[j]);
    rows.clear();
    bool has_values = false, adds = false;
    if (consumer == 0) named_barrier_arrive<4, 256>();  // the first turn
    rings.q.wait(at.q);
    rings.k.wait(at.k);
#pragma unroll 1
    while (true) {
      const KeyBlock before = block;
      const bool begins = blocks.is_first();
      block = blocks.block();
      const auto ends = [&] { return block.tile == KeyWindow::kNoTile; };
      issue(before, has_values, adds);
      if (begins) {
        if (has_values) {
          const Tile ended = Work::tile_at(p, before.tile);
          place.formulas.end(p, ended, i32(ended.m) + place.row(), rows, inverse);
        }
        if (!ends()) load_terms(p, block.tile, place, tile, terms);
        rows.clear();
      }
      if (!ends()) blocks.next(p);
      wgmma_wait<1>();  // the scores are there, the values still run
      pin(s);
      release_keys(place.releases() && !ends(), rings, at, operands);
      const bool is_ordinary = kHasOrdinary && place.formulas.is_folded() && !begins && !grows &&
                               !block.is_masked && !Rings::is_checked(before);
      // Values are waited for behind the maxima or the first weights, and released early: the next
      // ones are already wanted. The four warps take either way, but wait at one instruction.
      if (is_ordinary) {
        place.formulas.score(p, tile, terms, first_query(), first_key(), s);
        weigh_early();
      } else {
        pin(s);  // so that scores are not computed before the branch
        place.formulas.score(p, tile, terms, first_query(), first_key(), s);
        place.formulas.mask(p, tile, terms, first_query(), first_key(), block.is_masked, s);
        find_maxima();
      }
      finish_values(place.releases() && has_values);
      const bool is_done = is_ordinary && weigh_late();
      if (!is_done) {
        pin(s);  // or the compiler keeps what it knows of the first weights, and spills
        if (is_ordinary) find_maxima();
        rows.weigh(s, factor, place.formulas.scale());
        pack(w, s);
        grows = grows && !begins;
        if (has_values) add_odd_values(p, before, place, rings, at.checks, o);
        // Often nothing is to be changed: one branch for both reasons.
        if (__any_sync(0xffffffffu, begins || is_rescaled(factor))) {
          const float by[2] = {begins ? inverse[0] : factor[0], begins ? inverse[1] : factor[1]};
          rescale(o[0], by);
          if (begins) {
            if (has_values) store(p, before.tile, place, o, sums);
            if (ends()) return;
            has_values = true;
          }
        }
      }
      adds = !begins;
      if (blocks.is_first()) {
        if (place.releases()) rings.q.release(at.q);
        at.q.advance();
        operands.set_q(at, consumer);
        if (blocks.has_ended()) continue;
        rings.q.wait(at.q);
      }
      rings.k.wait(at.k);
    }
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
    const typename Attention::Place place = {threadIdx.x - 128, {Work::ScoreFormula::scale(p)}};
    Attention::consume(p, start, memory + Attention::Memory::kOfSums, rings, place, warp / 4 - 1);
  }
}

}  // namespace tile
