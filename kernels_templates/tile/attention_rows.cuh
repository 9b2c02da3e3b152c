// What all kernels of attention do with scores and rows in a thread's registers. It has two rows,
// `query` and 8 below, in the order of sums of tensor cores (tile/online_softmax.cuh). Work, which
// the library writes, has
//
//   extent_m(p), extent_k(p)  the number of queries and of keys
//   kMayBeCut                 whether the last block of keys may have fewer than others
//   tile_at(p, number)        Tile: where a tile lies
//   mask(..), MaskTensors     see tile/key_walk.cuh
//   kChecks, value(..)        see tile/odd_keys.cuh
//   Element                   of the operands; bf16 or f16
//   kBase                     log2 of the base of the exponential
//   ScoreFormula              kPlain; Terms, what it reads of a row: load(p, tile, query);
//                             score(p, tile, terms, place, sum), without the scale; scale(p) of all
//                             scores; and sees(p, tile, terms, place), whether the mask leaves it
//   RowFormula                kPlain; divisor(p, tile, terms, query, maximum, sum) of a row's
//                             outputs; and store(..), what else becomes of a row
//   Finish                    what becomes of the output (tile/sums_by_words.cuh, ..)
#pragma once

#include "tile/odd_keys.cuh"
#include "tile/online_softmax.cuh"

namespace tile {

template <class Work>
struct AttentionRows {
  using Formula = typename Work::ScoreFormula;
  using OfRow = typename Work::RowFormula;
  using Terms = typename Formula::Terms;
  static constexpr bool kMayBeMasked = Work::kHasMask || Work::kMayBeCut;

  float factor;  // of all scores

  // The scale is a part of the exponent if it is positive.
  TILE_DEVICE bool is_folded() const { return factor > 0; }
  TILE_DEVICE float scale() const { return (is_folded() ? factor : 1.f) * Work::kBase; }

  // Of element i, if the first one's is `query` and `key`.
  static TILE_DEVICE ScorePlace place_of(i32 query, i32 key, int i) {
    const i32 below = i / 2 % 2 * 8, beside = i / 4 * 8 + i % 2;
    return {query + below,
            key + beside,
            float(query) + float(below),
            float(key) + float(beside),
            float(query - key),
            float(below - beside)};
  }

  // From sums of products to scores of a block, for the thread's columns from `key` on.
  template <class Params, class Tile, int kCount>
  static TILE_DEVICE void score(const Params& p, const Tile& tile, const Terms (&terms)[2],
                                i32 query, i32 key, float (&s)[kCount]) {
    if constexpr (!Formula::kPlain) {
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        s[i] = Formula::score(p, tile, terms[i / 2 % 2], place_of(query, key, i), s[i]);
    }
  }

  // What few blocks need: a scale that is not positive, and the mask.
  template <class Params, class Tile, int kCount>
  TILE_DEVICE void mask(const Params& p, const Tile& tile, const Terms (&terms)[2], i32 query,
                        i32 key, bool is_masked, float (&s)[kCount]) const {
    if (is_folded() && !(kMayBeMasked && is_masked)) return;
    if (!is_folded()) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) s[i] *= factor;
    }
    if (!kMayBeMasked || !is_masked) return;
    const i32 end = i32(Work::extent_k(p));
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const ScorePlace at = place_of(query, key, i);
      // Both sides are evaluated: a branch for each score would cost more.
      const bool is_seen =
          (!Work::kMayBeCut || at.key < end) & Formula::sees(p, tile, terms[i / 2 % 2], at);
      s[i] = is_seen ? s[i] : -math::inf_f32();
    }
  }

  // What becomes of rows that are complete. Returns what their outputs are multiplied by.
  template <class Params, class Tile, int kMostGrowth>
  TILE_DEVICE void end(const Params& p, const Tile& tile, i32 first_query,
                       SoftmaxRows<kMostGrowth> rows, float (&inverse)[2]) const {
    rows.finish();
    if constexpr (!OfRow::kPlain) rows.finish_maxima();
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      float dividend = 1, divisor = rows.sum[e];
      if constexpr (!OfRow::kPlain) {
        const i32 query = first_query + 8 * e;
        const float maximum = rows.maximum[e] * (is_folded() ? factor : 1.f);
        Terms terms;
        terms.load(p, tile, query);
        dividend = rows.below_maximum(e, scale());
        const float sum = rows.sum[e] * dividend;
        divisor = OfRow::divisor(p, tile, terms, query, maximum, sum);
        if (threadIdx.x % 4 == 0 && query < i32(Work::extent_m(p)))
          OfRow::store(p, tile, terms, query, maximum, sum);
      }
      // Without keys there is nothing to add up, and the output is 0.
      inverse[e] = Work::extent_k(p) == 0 ? 0.f : dividend / divisor;
    }
  }
};

}  // namespace tile
