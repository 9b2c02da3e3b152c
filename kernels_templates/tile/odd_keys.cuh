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
  float first_distance, beyond;  // query_value - key_value in two parts, the second one a constant

  TILE_DEVICE float distance() const { return first_distance + beyond; }
  // distance() * x. The first product is the same for all scores of a thread's block.
  TILE_DEVICE float times_distance(float x) const {
    return __fmaf_rn(x, beyond, x * first_distance);
  }
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

  // What odd values add to sums in the order of tensor cores, of rows from `query` on, 8 apart, and
  // columns from `column` on. That is rare, so its code is short instead of fast: it lies in
  // memory, where an index may be a variable. (As a struct: the compiler would take the place of a
  // mere array for others of its type, too, and put these into memory.)
  template <int kHeight, int kCount>
  struct Sums {
    float of[kHeight][kCount];
    i32 query, column;

    TILE_DEVICE Sums(i32 query, i32 column) : query(query), column(column) {
#pragma unroll 1
      for (int i = 0; i < kHeight * kCount; ++i) of[i / kCount][i % kCount] = 0;
    }
    TILE_DEVICE void add_to(float (&o)[kHeight][kCount]) const {
#pragma unroll
      for (int i = 0; i < kHeight * kCount; ++i)
        o[i / kCount][i % kCount] += of[i / kCount][i % kCount];
    }
    template <class Params, class Tile>
    TILE_DEVICE void add(const Params& p, const Tile& tile, i32 key) {
#pragma unroll 1
      for (int e = 0; e < 2 * kHeight; ++e) {
        if (!is_seen(p, tile, query + 8 * e, key)) continue;
#pragma unroll 1
        for (int j = 0; j < kCount / 2; ++j) {
          const i32 at = column + j / 2 * 8 + j % 2;
          if (at >= i32(Work::extent_n(p))) continue;
          const float x = Work::value(p, tile, key, at);
          if (!(fabsf(x) < math::inf_f32())) of[e / 2][j / 2 * 4 + e % 2 * 2 + j % 2] += x;
        }
      }
    }
  };

 private:
  // A score that is -infinity without the product of query and key is one of a mask, too.
  template <class Params, class Tile>
  static TILE_DEVICE bool is_seen(const Params& p, const Tile& tile, i32 query, i32 key) {
    typename Formula::Terms terms;
    terms.load(p, tile, query);
    const ScorePlace at = {query, key, float(query), float(key), float(query - key), 0.f};
    return key < i32(Work::extent_k(p)) && Formula::sees(p, tile, terms, at) &&
           Formula::score(p, tile, terms, at, 0.f) != -math::inf_f32();
  }
};

}  // namespace tile
