// Rows of 16-bit elements in shared memory, brought by cp.async and read by ldmatrix, from sm_80
// on.
#pragma once

#include "tile/async_copy.cuh"
#include "tile/matrix_rows.cuh"

namespace tile {

// kRows rows of kColumns elements, multiples of 8 and of 16: columns lie in panels of 64, one
// behind the other, each with rows of 128 bytes in the order of swizzled_chunk. The first panel
// begins at a multiple of 128 bytes.
template <int kRows, int kColumns>
struct RowPanels {
  static constexpr int kChunks = kColumns / 8;  // of a row, 16 bytes each
  static constexpr u32 kPanelBytes = kRows * 128;
  static constexpr u32 kBytes = (kColumns + 63) / 64 * kPanelBytes;
  // Lanes that copy a row.
  static constexpr int kLanes = kChunks > 8 ? 16 : kChunks > 4 ? 8 : kChunks > 2 ? 4 : 2;

  // Calls use(row, below, chunk, place) for each chunk that a thread of kThreads copies, which lies
  // at `place`: of the row `below` the first one, a constant if the loop is unrolled.
  template <int kThreads, int kUnroll, class Use>
  static TILE_DEVICE void for_own_chunks(const Use& use) {
    constexpr int kAtOnce = kThreads / kLanes;  // rows
    static_assert(kAtOnce % 8 == 0, "a thread's chunks lie at the same place of their rows");
    const u32 row = threadIdx.x / kLanes, chunk = threadIdx.x % kLanes;
    if (chunk >= kChunks || (kRows < kAtOnce && row >= kRows)) return;
    const u32 place = chunk / 8 * kPanelBytes + swizzled_chunk<128>(row, chunk % 8);
#pragma unroll kUnroll
    for (int i = 0; i < (kRows + kAtOnce - 1) / kAtOnce; ++i)
      use(i32(row), i * kAtOnce, i32(chunk), place + i * kAtOnce * 128);
  }

  // Copies them from row `first` on of a matrix whose rows have kExtent elements and are `stride`
  // elements apart. Of those rows `exist`; the others, and columns beyond the extent, are 0. All of
  // kThreads threads call this.
  template <int kExtent, int kThreads, class Element>
  static TILE_DEVICE void copy(u32 to, const Element* matrix, i64 stride, i32 first, i32 exist) {
    constexpr u32 kRest = kExtent % 8 * 2;  // bytes of a partial chunk
    for_own_chunks<kThreads, kRows>([&](i32 row, int below, i32 chunk, u32 place) {
      const u32 bytes = 8 * chunk + 8 <= kExtent ? 16 : 8 * chunk < kExtent ? kRest : 0;
      const Element* const from = matrix + i64(first + row) * stride + chunk * 8;
      async_copy_or_zero<16>(to + place, from + i64(below) * stride,
                             row + below < exist ? bytes : 0);
    });
  }

  // What a lane adds to the address of the panels for its row of matrices, of 16 rows and 16
  // columns at row 0 and column 0; and then, for such at another row and chunk. The chunk is even.
  static TILE_DEVICE u32 place_of(MatrixRow of_lane) {
    return swizzled_chunk<128>(of_lane.row, of_lane.chunk);
  }
  static TILE_DEVICE u32 moved(u32 place, int row, int chunk) {
    return (place ^ u32(chunk % 8 * 16)) + u32(row * 128) + chunk / 8 * kPanelBytes;
  }
};

}  // namespace tile
