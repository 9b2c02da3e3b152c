// The sums of a warp on their way through shared memory: from the fragments of a tensor-core
// product, 16 rows of them, to vectors of neighbours, along rows or along columns.
#pragma once

#include "tile/types.cuh"

namespace tile {

// 16 rows and kColumns columns. Vectors have kVector sums, along m if kAlongM, else along n.
template <class Sum, int kColumns, int kVector, bool kAlongM>
struct SumPanel {
  static constexpr int kRows = 16;
  static constexpr int kLine = kAlongM ? kRows : kColumns, kLines = kAlongM ? kColumns : kRows;
  static constexpr int kPerLine = kLine / kVector, kVectors = kPerLine * kLines;
  // Along n, chunks of a row are permuted by the row. Along m, lines are four sums apart. Both put
  // what a warp writes at once into different banks.
  static constexpr int kChunk = kVector > 8 ? kVector : 8;
  static constexpr int kPitch = kAlongM ? kRows + 4 : kColumns;
  static constexpr u32 kBytes = kLines * kPitch * u32(sizeof(Sum));
  static_assert(kLine % kVector == 0 && kColumns % kChunk == 0, "lines have whole vectors");

  // Where a sum lies in the panel.
  static TILE_DEVICE constexpr i32 index(i32 row, i32 column) {
    if (kAlongM) return column * kPitch + row;
    return row * kPitch + ((column / kChunk) ^ (row % (kColumns / kChunk))) * kChunk +
           column % kChunk;
  }

  // Vector `number`: its first sum, and the row and the column of that.
  static TILE_DEVICE constexpr i32 row_of(i32 number) {
    return kAlongM ? number % kPerLine * kVector : number / kPerLine;
  }
  static TILE_DEVICE constexpr i32 column_of(i32 number) {
    return kAlongM ? number / kPerLine : number % kPerLine * kVector;
  }
  static TILE_DEVICE constexpr i32 index_of(i32 number) {
    return index(row_of(number), column_of(number));
  }

  // The sums d[first], ... that the panel has room for; `first` is a constant. Four sums are two
  // neighbours of row lane / 4, and of the row 8 below; then come the next 8 columns.
  template <int kCount>
  static TILE_DEVICE void put(Sum* panel, const Sum (&d)[kCount], int first, i32 lane) {
#pragma unroll
    for (int i = 0; i < kColumns / 2; i += 2) {
      if (first + i >= kCount) break;
      const i32 row = lane / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + lane % 4 * 2;
      if constexpr (kAlongM) {
        panel[index(row, column)] = d[first + i];
        panel[index(row, column + 1)] = d[first + i + 1];
      } else {
        struct alignas(2 * sizeof(Sum)) Pair {
          Sum sum[2];
        };
        *reinterpret_cast<Pair*>(panel + index(row, column)) = {{d[first + i], d[first + i + 1]}};
      }
    }
  }
};

}  // namespace tile
