// The first warpgroup of an attention: one warp brings Q, and the blocks of K and V that a tile
// sees; the others take odd values out of V where that is asked for. Target: sm_90a.
#pragma once

#include "tile/attention_rings.cuh"
#include "tile/key_walk.cuh"
#include "tile/tensor_map.cuh"

namespace tile {

// Work as in tile/warpgroup_attention.cuh.
template <class Work, class Params>
struct AttentionProducer {
  using TileQ = typename Work::SharedQ;
  using TileK = typename Work::SharedK;
  using TileV = typename Work::SharedV;
  using Tile = decltype(Work::tile_at(*static_cast<const Params*>(nullptr), 0u));
  using Walk = KeyWalk<Work, Params, Tile>;
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
      bool is_last = false;
#pragma unroll 1
      while (!is_last) {
        const i32 block = walk.first_key() | (walk.is_masked() ? Rings::kMasked : 0);
        is_last = !walk.next(p, tile);
        if (leads) bring(p, tile, is_last ? block | Rings::kLast : block, memory, rings, at.k);
        at.k.advance();
      }
    }
    if (!leads) return;
    rings.k.acquire(at.k);
    Rings::note(rings.notes_of_k(), at.k, Rings::kEnd);
    rings.k.commit(at.k);
    rings.v.acquire(at.k);
    Rings::note(rings.notes_of_v(), at.k, Rings::kEnd);
    rings.v.commit(at.k);
  }

  static TILE_DEVICE void bring(const Params& p, const Tile& tile, i32 what, u32 memory,
                                const Rings& rings, typename Rings::Ring::State at) {
    const i32 first = what & -32;
    rings.k.acquire(at);
    Rings::note(rings.notes_of_k(), at, what);
    rings.k.expect(at, TileK::kBytes);
    load<typename Work::BoxesK>(p, tile, first, memory + Memory::kOfK + at.stage * TileK::kBytes,
                                rings.k.full(at));
    rings.v.acquire(at);
    Rings::note(rings.notes_of_v(), at, what);
    rings.v.expect(at, TileV::kBytes);
    load<typename Work::BoxesV>(p, tile, first, memory + Memory::kOfV + at.stage * TileV::kBytes,
                                rings.v.full(at));
  }

  // The warps beside it, which replace odd values.
  static TILE_DEVICE void check(u32 memory, const Rings& rings) {
    typename Rings::States at;
    const u32 thread = threadIdx.x - 32;
#pragma unroll 1
    for (;; at.v.advance()) {
      rings.v.wait(at.v);
      const i32 what = Rings::noted(rings.notes_of_v(), at.v);
      if (what == Rings::kEnd) return;
      if (Rings::is_checked(what)) {
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
