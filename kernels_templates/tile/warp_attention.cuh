// Attention by the warps of a block (mma.sync), one tile of queries: a warp has some rows of it,
// and takes one block of keys after another. From sm_80 on. Work, which the library writes, has
//
//   kM, kN, kKeys, kColumns            queries of a tile, columns of the output, keys of a block,
//                                      columns of Q and K; all but kM padded to multiples of 16
//   kDepth, kWidth                     the columns that Q and K have, and those that V has
//   kWarps, kSlots                     of a block; blocks of K or V in shared memory
//   Product                            the instruction of both products
//   queries(p, tile), keys(..), values(..)
//                                      where the matrices of a tile's head begin
//   stride_of_queries(p), stride_of_keys(p), stride_of_values(p)
//                                      how far apart their rows are, in elements
//   and what tile/attention_rows.cuh asks for
//
//   shared memory:  Q | slots, or outputs of each warp on their way
//
// K and V of the blocks take turns in the ring of slots: K, V, K of the next block, ... While one
// of them is multiplied, kSlots - 1 are on their way.
#pragma once

#include "tile/attention_rows.cuh"
#include "tile/barrier.cuh"
#include "tile/key_walk.cuh"
#include "tile/ldmatrix.cuh"
#include "tile/mma.cuh"
#include "tile/packed.cuh"
#include "tile/row_panels.cuh"
#include "tile/row_statistics.cuh"

namespace tile {

template <class Work, class Params>
struct WarpAttention {
  using Mma = typename Work::Product;
  using Formulas = AttentionRows<Work>;
  using Terms = typename Formulas::Terms;
  using Tile = decltype(Work::tile_at(*static_cast<const Params*>(nullptr), 0u));
  using Walk = KeyWalk<Work, Params, Tile>;
  using Finish = typename Work::Finish;
  using Odd = OddKeys<Work>;
  using TileQ = RowPanels<Work::kM, Work::kColumns>;
  using TileK = RowPanels<Work::kKeys, Work::kColumns>;
  using TileV = RowPanels<Work::kKeys, Work::kN>;
  static constexpr int kThreads = 32 * Work::kWarps, kSlots = Work::kSlots;
  static constexpr int kRows = Work::kM / Work::kWarps, kHeight = kRows / 16;  // of a warp
  static constexpr int kSteps = Work::kKeys / 16;                              // of weights * V
  // Registers of a thread, for 16 rows.
  static constexpr int kScores = Work::kKeys / 2, kOutputs = Work::kN / 2;
  static constexpr u32 kSlotBytes = TileK::kBytes > TileV::kBytes ? TileK::kBytes : TileV::kBytes;
  // What a block is: its first key, a multiple of 32, and whether some of its keys are masked.
  static constexpr i32 kMasked = 1, kNone = -1;
  static constexpr int kAhead = kSlots / 2;  // blocks of which something may be on its way
  static constexpr u32 kNotes = 4;
  static_assert(kAhead + 2 <= kNotes, "a note is not read while another one is written");

  // The four sums of instruction `i` of a row of them.
  template <int kCount>
  static TILE_DEVICE float (&sums_of(float (&x)[kCount], int i))[4] {
    return *reinterpret_cast<float(*)[4]>(x + 4 * i);
  }

  // What a thread knows of its place.
  struct Place {
    u32 lane;
    i32 first_row;  // of the warp, in the tile
    Formulas formulas;
    u32 q, k, v;  // what it adds to addresses for its rows of matrices

    TILE_DEVICE explicit Place(float scale)
        : lane(threadIdx.x % 32), first_row(i32(threadIdx.x / 32) * kRows), formulas{scale} {
      q = TileQ::place_of(matrix_row_of_a(lane));
      k = TileK::place_of(matrix_row_of_b(lane));
      v = TileV::place_of(matrix_row_of_b_transposed(lane));
    }
    // Of the thread's first element, in the tile and in a block.
    TILE_DEVICE i32 row() const { return first_row + i32(lane / 4); }
    TILE_DEVICE i32 column() const { return i32(lane % 4 * 2); }
  };

  // What is alike for all warps lies in shared memory, since registers are few: where the tile
  // lies, and what its blocks are, by number. The first warp walks; the others read what it has
  // noted after the next barrier.
  struct Shared {
    Tile tile;
    Walk walk;
    i32 what[kNotes];

    TILE_DEVICE static i32 found(const Walk& walk) {
      return walk.first_key() | (walk.is_masked() ? kMasked : 0);
    }
    // Of the first blocks.
    TILE_DEVICE void begin(const Params& p, const Tile& own) {
      if (threadIdx.x >= 32) return;
      Walk at(p, own);
      i32 first[kAhead + 1] = {found(at)};
#pragma unroll
      for (int i = 1; i <= kAhead; ++i) first[i] = at.next(p, own) ? found(at) : kNone;
      if (threadIdx.x != 0) return;
      tile = own;
      walk = at;
#pragma unroll
      for (int i = 0; i <= kAhead; ++i) what[i] = first[i];
    }
    TILE_DEVICE void note(const Params& p, u32 block) {
      if (threadIdx.x >= 32) return;
      Walk at = walk;
      const i32 next = at.next(p, tile) ? found(at) : kNone;
      __syncwarp();  // all lanes have read where it was
      if (threadIdx.x != 0) return;
      walk = at;
      what[block % kNotes] = next;
    }
  };

  // The ring of slots. While one of them is used, the one before is filled.
  struct Ring {
    unsigned char* memory;  // Q, and then the slots
    u32 used = 0;

    TILE_DEVICE u32 start() const { return shared_address(memory); }
    TILE_DEVICE unsigned char* slots() const { return memory + TileQ::kBytes; }
    TILE_DEVICE u32 queries(const Place& place) const {
      return start() + u32(place.first_row) * 128;
    }

    // Load number `kNumber`, of K and V of the blocks by turns, counted from `block`. Loads and
    // groups are counted alike, so that a group may be empty.
    template <int kNumber>
    TILE_DEVICE void load(const Params& p, const Shared& shared, u32 block, u32 slot) const {
      const i32 what = shared.what[(block + kNumber / 2) % kNotes];
      if (what != kNone) {
        const i32 first = what & -32, exist = i32(Work::extent_k(p)) - first;
        const u32 to = start() + TileQ::kBytes + slot * kSlotBytes;
        if constexpr (kNumber % 2 == 0) {
          TileK::template copy<Work::kDepth, kThreads>(to, Work::keys(p, shared.tile),
                                                       Work::stride_of_keys(p), first, exist);
        } else {
          TileV::template copy<Work::kWidth, kThreads>(to, Work::values(p, shared.tile),
                                                       Work::stride_of_values(p), first, exist);
        }
      }
      async_copy_commit();
    }
    template <int kNumber>
    TILE_DEVICE void load_first(const Params& p, const Shared& shared) const {
      load<kNumber>(p, shared, 0, kNumber);
      if constexpr (kNumber + 2 < kSlots) load_first<kNumber + 1>(p, shared);
    }
    // Waits until this thread's part of the slot that is used next is there.
    static TILE_DEVICE void wait() { async_copy_wait<kSlots - 2>(); }
    TILE_DEVICE u32 slot() const { return start() + TileQ::kBytes + used * kSlotBytes; }
    TILE_DEVICE u32 before() const { return used == 0 ? kSlots - 1 : used - 1; }
    TILE_DEVICE void leave() { used = used + 1 == kSlots ? 0 : used + 1; }
  };

  // s = Q * K of the warp's rows.
  static TILE_DEVICE void multiply_keys(float (&s)[kHeight][kScores], u32 q, u32 k,
                                        const Place& place) {
#pragma unroll
    for (int h = 0; h < kHeight; ++h) clear(s[h]);
#pragma unroll
    for (int d = 0; d < Work::kColumns / 16; ++d) {
      u32 a[kHeight][4];
#pragma unroll
      for (int h = 0; h < kHeight; ++h)
        load_matrices(a[h], q + TileQ::moved(place.q, 16 * h, 2 * d));
#pragma unroll
      for (int n = 0; n < Work::kKeys / 16; ++n)
        multiply_column(s, a, n, k + TileK::moved(place.k, 16 * n, 2 * d));
    }
  }

  // o += weights * V.
  static TILE_DEVICE void multiply_values(float (&o)[kHeight][kOutputs],
                                          const u32 (&w)[kSteps][kHeight][4], u32 v,
                                          const Place& place) {
#pragma unroll
    for (int j = 0; j < kSteps; ++j) {
#pragma unroll
      for (int n = 0; n < Work::kN / 16; ++n)
        multiply_column<true>(o, w[j], n, v + TileV::moved(place.v, 16 * j, 2 * n));
    }
  }

  // Adds the products with 16 columns, whose matrices begin at `row` for this lane.
  template <bool kTransposed = false, int kCount>
  static TILE_DEVICE void multiply_column(float (&d)[kHeight][kCount], const u32 (&a)[kHeight][4],
                                          int n, u32 row) {
    u32 both[4];
    load_matrices<4, kTransposed>(both, row);
    const u32 b[2][2] = {{both[0], both[1]}, {both[2], both[3]}};
#pragma unroll
    for (int h = 0; h < kHeight; ++h) {
#pragma unroll
      for (int i = 0; i < 2; ++i) accumulate<Mma>(sums_of(d[h], 2 * n + i), a[h], b[i]);
    }
  }

  // Whether values of a block are checked.
  static TILE_DEVICE bool is_checked(i32 what) {
    return Work::kChecks == Checks::all ||
           (Work::kChecks == Checks::masked && (what & kMasked) != 0);
  }
  // Replaces odd values in what this thread has copied of a block by 0. Returns whether there are
  // any.
  static TILE_DEVICE bool take_out_odd(unsigned char* values) {
    struct alignas(16) Chunk {
      u32 word[4];
    };
    bool found = false;
    TileV::template for_own_chunks<kThreads, 1>([&](i32, int, i32, u32 place) {
      Chunk& at = *reinterpret_cast<Chunk*>(values + place);
      Chunk chunk = at;
      u32 odd = 0;
#pragma unroll
      for (u32 word : chunk.word) odd |= Odd::odd_halves(word);
      if (odd == 0) return;
#pragma unroll
      for (u32& word : chunk.word) word = Odd::without_odd(word);
      at = chunk;
      found = true;
    });
    return found;
  }
  // Waits until a block's values are there for all threads. Returns whether odd ones were taken
  // out.
  static TILE_DEVICE bool wait_for_values(i32 what, unsigned char* values) {
    Ring::wait();
    if (is_checked(what)) return __syncthreads_or(take_out_odd(values)) != 0;
    __syncthreads();
    return false;
  }

  // Adds what was taken out of the tile's blocks to the rows that see it.
  static TILE_DEVICE void add_odd(const Params& p, const Tile& tile, const Place& place,
                                  float (&o)[kHeight][kOutputs]) {
    typename Odd::template Sums<kHeight, kOutputs> sums(i32(tile.m) + place.row(), place.column());
    Walk walk(p, tile);
#pragma unroll 1
    do {
      if (!is_checked(walk.is_masked() ? kMasked : 0)) continue;
#pragma unroll 1
      for (int i = 0; i < Work::kKeys; ++i) sums.add(p, tile, walk.first_key() + i);
    } while (walk.next(p, tile));
    sums.add_to(o);
  }

  // What becomes of 16 rows that are complete.
  static TILE_DEVICE void finish(const Params& p, const Tile& tile, const Place& place, i32 below,
                                 SoftmaxRows<0> rows, float (&o)[kOutputs], unsigned char* sums) {
    float inverse[2];
    place.formulas.end(p, tile, i32(tile.m) + place.row() + below, rows, inverse);
    float outputs[1][kOutputs];
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) outputs[0][i] = o[i] * inverse[i / 2 % 2];
    Finish::finish(p, tile, outputs, RowStatistics<Work, 1>(), sums, place.first_row + below,
                   i32(place.lane));
  }

  // A thread's rows: what their scores read, sums of exponentials, and of weights * V.
  struct Rows {
    Terms terms[kHeight][2];
    SoftmaxRows<0> softmax[kHeight];
    float o[kHeight][kOutputs];

    TILE_DEVICE Rows(const Params& p, const Tile& tile, const Place& place) {
#pragma unroll
      for (int h = 0; h < kHeight; ++h) {
        clear(o[h]);
        softmax[h].clear();
#pragma unroll
        for (int e = 0; e < 2; ++e)
          terms[h][e].load(p, tile, i32(tile.m) + place.row() + 16 * h + 8 * e);
      }
    }

    // From sums of products of a block to weights; what was added up so far is rescaled.
    TILE_DEVICE void weigh(const Params& p, const Tile& tile, const Place& place, i32 what,
                           float (&s)[kHeight][kScores], u32 (&w)[kSteps][kHeight][4]) {
#pragma unroll
      for (int h = 0; h < kHeight; ++h) {
        float factor[2];
        const i32 query = i32(tile.m) + place.row() + 16 * h, key = (what & -32) + place.column();
        place.formulas.score(p, tile, terms[h], query, key, s[h]);
        place.formulas.mask(p, tile, terms[h], query, key, (what & kMasked) != 0, s[h]);
        softmax[h].take(s[h], factor, place.formulas.scale());
#pragma unroll
        for (int i = 0; i < kScores / 2; ++i)
          pack_word<typename Work::Element>(w[i / 4][h][i % 4], s[h] + 2 * i);
        // Most blocks have no score above those before.
        if (__any_sync(0xffffffffu, factor[0] != 1 || factor[1] != 1)) {
#pragma unroll
          for (int i = 0; i < kOutputs; ++i) o[h][i] *= factor[i / 2 % 2];
        }
      }
    }
  };

  // Takes a block in. Returns whether odd values were taken out of it.
  static TILE_DEVICE bool take_block(const Params& p, Shared& shared, u32 block, const Place& place,
                                     Ring& ring, Rows& rows) {
    float s[kHeight][kScores];
    u32 w[kSteps][kHeight][4];
    ring.wait();
    __syncthreads();  // the keys are there for all, and the slot before is free
    ring.template load<kSlots - 1>(p, shared, block, ring.before());
    multiply_keys(s, ring.queries(place), ring.slot(), place);
    ring.leave();
    const i32 what = shared.what[block % kNotes];
    rows.weigh(p, shared.tile, place, what, s, w);
    const bool has_odd = wait_for_values(what, ring.slots() + ring.used * kSlotBytes);
    ring.template load<kSlots>(p, shared, block, ring.before());
    multiply_values(rows.o, w, ring.slot(), place);
    ring.leave();
    shared.note(p, block + kAhead + 1);
    return has_odd;
  }

  static TILE_DEVICE void attend(const Params& p, unsigned char* memory) {
    __align__(16) __shared__ unsigned char bytes[sizeof(Shared)];
    Shared& shared = *reinterpret_cast<Shared*>(bytes);
    const Place place(Work::ScoreFormula::scale(p));
    Ring ring{memory};
    const Tile own = Work::tile_at(p, blockIdx.x);
    TileQ::template copy<Work::kDepth, kThreads>(ring.start(), Work::queries(p, own),
                                                 Work::stride_of_queries(p), i32(own.m),
                                                 i32(Work::extent_m(p) - own.m));
    shared.begin(p, own);
    Rows rows(p, own, place);
    __syncthreads();  // what is shared is there
    ring.template load_first<0>(p, shared);
    [[maybe_unused]] bool has_odd = false;
    u32 block = 0;
#pragma unroll 1
    do {
      has_odd = take_block(p, shared, block, place, ring, rows) || has_odd;
      ++block;
    } while (shared.what[block % kNotes] != kNone);

    const Tile tile = shared.tile;
    if constexpr (Work::kChecks != Checks::none) {
      if (has_odd) add_odd(p, tile, place, rows.o);
    }
    async_copy_wait<0>();
    __syncthreads();  // the slots are free
    unsigned char* const sums = ring.slots() + threadIdx.x / 32 * Finish::kBytes;
#pragma unroll
    for (int h = 0; h < kHeight; ++h)
      finish(p, tile, place, 16 * h, rows.softmax[h], rows.o[h], sums);
  }
};

template <class Work, class Params>
TILE_DEVICE void attend_by_warps(const Params& p, unsigned char* memory) {
  WarpAttention<Work, Params>::attend(p, memory);
}

}  // namespace tile
