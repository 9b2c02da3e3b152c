// Values that are nan or infinite, of keys of which some are masked. A masked key has the weight 0,
// and 0 times such a value would be nan. So kernels of attention replace them by 0 before they
// multiply, and add them to the outputs of the rows that see their key.
#pragma once

#include "tile/math.cuh"

namespace tile {

// Blocks of keys in which values of masked keys are replaced: none, those with masked keys, or all.
enum class Checks { none, masked, all };

// Where a score lies.
struct ScorePlace {
  i32 query, key;
  float query_value, key_value;  // the same as numbers
};

// Work has kExponents, the exponents of two elements in a word; extent_k(p), extent_n(p), the keys
// and the columns of values; value(p, tile, key, column) of their tensor; and ScoreFormula as in
// tile/warpgroup_attention.cuh.
template <class Work>
struct OddKeys {
  using Formula = typename Work::ScoreFormula;

  // Bits 15 and 31: whether the two numbers of a word are nan or infinite.
  static TILE_DEVICE u32 odd_halves(u32 word) {
    return (word & Work::kExponents) + (Work::kExponents & ~(Work::kExponents << 1)) & 0x80008000u;
  }
  // 0 in place of those numbers.
  static TILE_DEVICE u32 without_odd(u32 word) {
    return word & ~(odd_halves(word) / 0x8000u * 0xffffu);
  }

  // What the keys are added to: rows `query` and 8 below, columns from `column` on, in the order of
  // sums of tensor cores.
  template <class Params, class Tile>
  struct Rows {
    typename Formula::Terms terms[2];
    i32 query, column;

    TILE_DEVICE Rows(const Params& p, const Tile& tile, i32 first_query, i32 first_column)
        : query(first_query), column(first_column) {
#pragma unroll
      for (int e = 0; e < 2; ++e) terms[e].load(p, tile, query + 8 * e);
    }

    // Adds the odd values of a key.
    template <int kCount>
    TILE_DEVICE void add(const Params& p, const Tile& tile, i32 key, float (&o)[kCount]) const {
      const bool seen[2] = {is_seen(p, tile, terms[0], query, key),
                            is_seen(p, tile, terms[1], query + 8, key)};
      if (!seen[0] && !seen[1]) return;
        // Few values are odd: the loop is short code instead of fast code.
#pragma unroll 1
      for (int j = 0; j < kCount / 2; ++j) {
        const i32 at = column + j / 2 * 8 + j % 2;
        if (at >= i32(Work::extent_n(p))) continue;
        const float x = Work::value(p, tile, key, at);
        if (fabsf(x) < math::inf_f32()) continue;
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
          if (i / 4 * 2 + i % 2 == j && seen[i / 2 % 2]) o[i] += x;
        }
      }
    }
  };

 private:
  // A score that is -infinity without the product of query and key is one of a mask, too.
  template <class Params, class Tile>
  static TILE_DEVICE bool is_seen(const Params& p, const Tile& tile,
                                  const typename Formula::Terms& terms, i32 query, i32 key) {
    const ScorePlace at = {query, key, float(query), float(key)};
    return key < i32(Work::extent_k(p)) && Formula::sees(p, tile, terms, at) &&
           Formula::score(p, tile, terms, at, 0.f) != -math::inf_f32();
  }
};

}  // namespace tile
