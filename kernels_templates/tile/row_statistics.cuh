// What is reduced along the rows of A, such as a sum of squares, by the warpgroups that multiply:
// they read their rows of a stage again while the product of that stage is on its way.
#pragma once

#include "tile/packed.cuh"
#include "tile/shuffle.cuh"

namespace tile {

// Work has kStatistic, whether there is one; and then Statistic has Element, start(), combine(a, b)
// and combine(p, sum, element).
template <class Work, int kHeight, bool kAny = Work::kStatistic>
struct RowStatistics {
  template <class Params>
  TILE_DEVICE void add(const Params&, u32, u32) {}
  TILE_DEVICE void finish() {}
  TILE_DEVICE float of(int, int) const { return 0; }
};

// Rows have 128 bytes in a stage, of which a thread takes half, always of the same row of each 64.
template <class Work, int kHeight>
struct RowStatistics<Work, kHeight, true> {
  using Statistic = typename Work::Statistic;
  using Elements = Packed<typename Statistic::Element, 8>;
  static constexpr int kRowBytes = 128, kRows = 64;

  float sum[kHeight];     // of this thread's half
  float row[kHeight][2];  // after finish: of the rows lane / 4 and 8 below

  TILE_DEVICE RowStatistics() {
#pragma unroll
    for (int i = 0; i < kHeight; ++i) sum[i] = Statistic::start();
  }

  // `tile` is the shared address of the warpgroup's first row. Chunks of 16 bytes are in another
  // order in every row, which does not matter; 8 threads at a time read all banks.
  template <class Params>
  TILE_DEVICE void add(const Params& p, u32 tile, u32 thread) {
#pragma unroll
    for (int i = 0; i < kHeight; ++i) {
      const u32 line = tile + (i * kRows + thread / 2) * kRowBytes;
      float part[4];  // independent of each other, so that none waits
#pragma unroll
      for (u32 j = 0; j < 4; ++j) {
        part[j] = Statistic::start();
        Elements elements;
        asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(elements.word[0]), "=r"(elements.word[1]), "=r"(elements.word[2]),
                       "=r"(elements.word[3])
                     : "r"(line + (thread % 2 * 4 + (j ^ (thread / 2 % 4))) * 16));
#pragma unroll
        for (int w = 0; w < 4; ++w) {
          float x[2];
          unpack_word<typename Statistic::Element>(elements.word[w], x);
          part[j] = Statistic::combine(p, part[j], x[0]);
          part[j] = Statistic::combine(p, part[j], x[1]);
        }
      }
      const float left = Statistic::combine(part[0], part[1]),
                  right = Statistic::combine(part[2], part[3]);
      sum[i] = Statistic::combine(sum[i], Statistic::combine(left, right));
    }
  }

  // That of instruction `i`'s row lane / 4, or 8 below; after finish.
  TILE_DEVICE float of(int i, int below) const {
    return row[i][below];
  }

  // Two neighbours have a row, and the warp's first lanes its first rows.
  TILE_DEVICE void finish() {
    const u32 lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < kHeight; ++i) {
      const float whole = Statistic::combine(sum[i], shuffle_xor(sum[i], 1));
#pragma unroll
      for (int below = 0; below < 2; ++below)
        row[i][below] = shuffle_from(whole, i32(lane / 4 + 8 * below) * 2);
    }
  }
};

}  // namespace tile
