// Which rows lanes give to load_matrices and store_matrices, and where rows lie in shared memory.
#pragma once

#include "tile/types.cuh"

namespace tile {

// The row and the 16-byte chunk whose address a lane gives, so that one load fills a fragment.
struct MatrixRow {
  u32 row, chunk;
};

// A of an atom with 16 rows, stored by rows along K: registers 0 to 3 of A. The same for the
// accumulators of 16 rows and 16 columns, packed to 16 bits and stored by rows.
TILE_DEVICE constexpr MatrixRow matrix_row_of_a(u32 lane) {
  return {lane % 16, lane / 16};
}
// B of two atoms with 8 columns each, stored by columns along K: registers 0 and 1 are B of columns
// 0 to 7, registers 2 and 3 of columns 8 to 15.
TILE_DEVICE constexpr MatrixRow matrix_row_of_b(u32 lane) {
  return {lane % 8 + lane / 16 * 8, lane / 8 % 2};
}
// B of two atoms of 16-bit elements, stored by rows along N, for transposed loads: rows are along
// K, and the registers are those of matrix_row_of_b.
TILE_DEVICE constexpr MatrixRow matrix_row_of_b_transposed(u32 lane) {
  return {lane % 16, lane / 16};
}

// The byte offset of a 16-byte chunk in rows of kRowBytes, permuted so that neither ldmatrix nor
// copies of 16 bytes conflict. It is the swizzle of tensor maps and of wgmma for that width. The
// rows begin at a multiple of 8 * kRowBytes.
template <int kRowBytes>
TILE_DEVICE constexpr u32 swizzled_chunk(u32 row, u32 chunk) {
  static_assert(kRowBytes == 32 || kRowBytes == 64 || kRowBytes == 128, "32, 64 or 128 bytes");
  constexpr u32 kChunks = kRowBytes / 16;
  return row * kRowBytes + ((chunk ^ (row / (8 / kChunks) % kChunks)) * 16);
}

}  // namespace tile
