// Odd values (tile/odd_keys.cuh) in the blocks of wgmma, which other warps than those that multiply
// replace in shared memory.
#pragma once

#include "tile/barrier.cuh"
#include "tile/named_barrier.cuh"
#include "tile/odd_keys.cuh"
#include "tile/tensor_map.cuh"

namespace tile {

// Work has kKeys, of a block; SharedV, its values in shared memory, in rows of 128 bytes, a column
// of rows for all keys behind the other; and what OddKeys asks for.
template <class Work>
struct OddValues {
  using Keys = OddKeys<Work>;
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
        for (u32 word : words[j]) odd |= Keys::odd_halves(word);
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
                              i32 column, float (&o)[1][kCount]) {
    typename Keys::template Sums<1, kCount> sums(i32(tile.m) + row, column);
#pragma unroll 1
    for (int i = 0; i < Work::kKeys; ++i) {
      if ((word(bits, i / 32) >> i % 32 & 1) != 0) sums.add(p, tile, first + i);
    }
    sums.add_to(o);
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
    for (u32 word : words) odd |= Keys::odd_halves(word);
    if (odd == 0) return;
#pragma unroll
    for (u32& word : words) word = Keys::without_odd(word);
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
};

}  // namespace tile
