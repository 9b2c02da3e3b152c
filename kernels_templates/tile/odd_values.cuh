// Values that are nan or infinite, in blocks of keys of which some are masked. A masked key has the
// weight 0, and 0 times such a value would be nan. So they are replaced by 0 in shared memory, and
// added to the outputs of the rows that see their key.
#pragma once

#include "tile/barrier.cuh"
#include "tile/math.cuh"
#include "tile/named_barrier.cuh"
#include "tile/tensor_map.cuh"

namespace tile {

// Where a score lies.
struct ScorePlace {
  i32 query, key;
  float query_value, key_value;  // the same as numbers
};

// Work has kKeys, of a block; SharedV, its values in shared memory, in rows of 128 bytes, a column
// of rows for all keys behind the other; kExponents, the exponents of two elements in a word;
// extent_n(p), the columns; value(p, tile, key, column) of the tensor; and ScoreFormula as in
// tile/warpgroup_attention.cuh.
template <class Work>
struct OddValues {
  using Formula = typename Work::ScoreFormula;
  static constexpr int kWords = Work::kKeys / 32;
  static constexpr u32 kBytes = 4 * kWords;  // of shared memory: a bit per key, set if it is odd
  static constexpr int kFinders = 64;        // threads

  // Replaces them in `values`, and sets the bits of their keys. Called by kFinders threads.
  static TILE_DEVICE void find(u32 values, u32 bits, u32 thread) {
    if (thread < kWords)
      asm volatile("st.shared.b32 [%0], %1;" ::"r"(bits + 4 * thread), "r"(0) : "memory");
    named_barrier_sync<3, kFinders>();
    constexpr u32 kAtOnce = 4;
    static_assert(Work::SharedV::kBytes % (16 * kFinders * kAtOnce) == 0, "whole turns");
#pragma unroll 1
    for (u32 i = thread; i < Work::SharedV::kBytes / 16; i += kFinders * kAtOnce) {
      u32 words[kAtOnce][4], odd = 0;
#pragma unroll
      for (u32 j = 0; j < kAtOnce; ++j) load(values + 16 * (i + j * kFinders), words[j]);
#pragma unroll
      for (u32 j = 0; j < kAtOnce; ++j) {
        for (u32 word : words[j]) odd |= odd_halves(word);
      }
      if (odd == 0) continue;
#pragma unroll 1
      for (u32 j = 0; j < kAtOnce; ++j) replace(values, bits, i + j * kFinders);
    }
    fence_async_proxy();
  }

  // Whether some key is odd.
  static TILE_DEVICE bool any(u32 bits) {
    u32 all = 0;
#pragma unroll
    for (int i = 0; i < kWords; ++i) all |= word(bits, i);
    return __shfl_sync(0xffffffffu, all, 0) != 0;
  }

  // Adds odd values to the outputs, in the order of wgmma's sums: of the tile's rows `row` and 8
  // below, and of columns from `column` on, for keys from `first` on.
  template <class Params, class Tile, int kCount>
  static TILE_DEVICE void add(const Params& p, const Tile& tile, u32 bits, i32 first, i32 row,
                              i32 column, float (&o)[kCount]) {
    typename Formula::Terms terms[2];
    const i32 query = i32(tile.m) + row;
#pragma unroll
    for (int e = 0; e < 2; ++e) terms[e].load(p, tile, query + 8 * e);
#pragma unroll 1
    for (int i = 0; i < Work::kKeys; ++i) {
      if ((word(bits, i / 32) >> i % 32 & 1) == 0) continue;
      const i32 key = first + i;
      const bool seen[2] = {is_seen(p, tile, terms[0], query, key),
                            is_seen(p, tile, terms[1], query + 8, key)};
      if (!seen[0] && !seen[1]) continue;
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
  }

 private:
  static TILE_DEVICE void load(u32 from, u32 (&words)[4]) {
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(from)
                 : "memory");
  }
  // In the 16 bytes number i.
  static TILE_DEVICE void replace(u32 values, u32 bits, u32 i) {
    u32 words[4], odd = 0;
    load(values + 16 * i, words);
#pragma unroll
    for (u32 word : words) odd |= odd_halves(word);
    if (odd == 0) return;
#pragma unroll
    for (u32& word : words) word &= ~(odd_halves(word) / 0x8000u * 0xffffu);
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(values + 16 * i), "r"(words[0]),
                 "r"(words[1]), "r"(words[2]), "r"(words[3])
                 : "memory");
    const u32 key = i / 8 % Work::kKeys;
    asm volatile("red.shared.or.b32 [%0], %1;" ::"r"(bits + key / 32 * 4), "r"(1u << key % 32)
                 : "memory");
  }
  static TILE_DEVICE u32 word(u32 bits, int number) {
    u32 word;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(word) : "r"(bits + 4 * number) : "memory");
    return word;
  }
  // Bits 15 and 31: whether the two numbers of a word are nan or infinite.
  static TILE_DEVICE u32 odd_halves(u32 word) {
    return (word & Work::kExponents) + (Work::kExponents & ~(Work::kExponents << 1)) & 0x80008000u;
  }
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
