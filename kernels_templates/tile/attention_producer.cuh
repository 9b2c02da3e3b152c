// The first warpgroup of an attention: one warp brings Q, and the blocks of K and V that a tile
// sees; one looks at the mask ahead of it; two take odd values out of V where that is asked for.
// Target: sm_90a.
#pragma once

#include "tile/attention_rings.cuh"
#include "tile/tensor_map.cuh"

namespace tile {

// Work as in tile/warpgroup_attention.cuh.
template <class Work, class Params>
struct AttentionProducer {
  using TileQ = typename Work::SharedQ;
  using TileK = typename Work::SharedK;
  using TileV = typename Work::SharedV;
  using Tile = decltype(Work::tile_at(*static_cast<const Params*>(nullptr), 0u));
  using Blocks = KeyBlocks<Work, Params>;
  using Odd = OddValues<Work>;
  using Rings = AttentionRings<Work>;
  using Memory = AttentionMemory<Work>;

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
    typename Rings::States at;
    Tile tile;
    Blocks blocks(p, rings.windows);
#pragma unroll 1
    for (;; at.k.advance()) {
      blocks.next(p);
      if (blocks.has_ended()) return;
      const KeyBlock block = blocks.block();
      if (blocks.is_first()) {
        tile = Work::tile_at(p, block.tile);
        if (leads) {
          rings.q.acquire(at.q);
          rings.q.expect(at.q, TileQ::kBytes);
          load<typename Work::BoxesQ>(p, tile, 0, memory + at.q.stage * TileQ::kBytes,
                                      rings.q.full(at.q));
        }
        at.q.advance();
      }
      if (leads) bring(p, tile, block.first_key, memory, rings, at.k);
    }
  }

  static TILE_DEVICE void bring(const Params& p, const Tile& tile, i32 first, u32 memory,
                                const Rings& rings, typename Rings::Ring::State at) {
    rings.k.acquire(at);
    rings.k.expect(at, TileK::kBytes);
    load<typename Work::BoxesK>(p, tile, first, memory + Memory::kOfK + at.stage * TileK::kBytes,
                                rings.k.full(at));
    rings.v.acquire(at);
    rings.v.expect(at, TileV::kBytes);
    load<typename Work::BoxesV>(p, tile, first, memory + Memory::kOfV + at.stage * TileV::kBytes,
                                rings.v.full(at));
  }

  // The last warps, which replace odd values. `thread` is a number among them.
  static TILE_DEVICE void check(const Params& p, u32 memory, const Rings& rings, u32 thread) {
    typename Rings::States at;
    Blocks blocks(p, rings.windows);
#pragma unroll 1
    for (;; at.v.advance()) {
      blocks.next(p);
      if (blocks.has_ended()) return;
      rings.v.wait(at.v);
      if (Rings::is_checked(blocks.block())) {
        rings.checks.acquire(at.checks);
        Odd::find(memory + Memory::kOfV + at.v.stage * TileV::kBytes,
                  rings.odd_keys + at.checks.stage * Odd::kBytes, thread);
        rings.checks.commit(at.checks);
        at.checks.advance();
      }
      if (thread % 32 == 0) rings.v.release(at.v);
    }
  }
};

}  // namespace tile
