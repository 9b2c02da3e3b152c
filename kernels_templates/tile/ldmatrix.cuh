// Matrices of 8 rows of 16 bytes between shared memory and the fragments of tensor-core products
// (PTX ISA, "ldmatrix" and "stmatrix"). Lane l gives the shared address of row l % 8 of matrix
// l / 8; lanes beyond the last matrix give any valid address. Of 16-bit elements, register j of
// lane l has elements 2 * (l % 4) and the next one of row l / 4 of matrix j; transposed, of column
// l / 4. All lanes of a warp call these together.
#pragma once

#include "tile/types.cuh"

namespace tile {

template <int kMatrices, bool kTransposed = false>
TILE_DEVICE void load_matrices(u32 (&r)[kMatrices], u32 row) {
  static_assert(kMatrices == 1 || kMatrices == 2 || kMatrices == 4, "ldmatrix has x1, x2 and x4");
  if constexpr (kMatrices == 1 && !kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(r[0])
                 : "r"(row)
                 : "memory");
  } else if constexpr (kMatrices == 1) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(r[0])
                 : "r"(row)
                 : "memory");
  } else if constexpr (kMatrices == 2 && !kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(row)
                 : "memory");
  } else if constexpr (kMatrices == 2) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(row)
                 : "memory");
  } else if constexpr (!kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(row)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(row)
                 : "memory");
  }
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
template <int kMatrices, bool kTransposed = false>
TILE_DEVICE void store_matrices(u32 row, const u32 (&r)[kMatrices]) {
  static_assert(kMatrices == 1 || kMatrices == 2 || kMatrices == 4, "stmatrix has x1, x2 and x4");
  if constexpr (kMatrices == 1 && !kTransposed) {
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(row), "r"(r[0])
                 : "memory");
  } else if constexpr (kMatrices == 1) {
    asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(row), "r"(r[0])
                 : "memory");
  } else if constexpr (kMatrices == 2 && !kTransposed) {
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(row), "r"(r[0]),
                 "r"(r[1])
                 : "memory");
  } else if constexpr (kMatrices == 2) {
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(row),
                 "r"(r[0]), "r"(r[1])
                 : "memory");
  } else if constexpr (!kTransposed) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row),
                 "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
                 : "memory");
  } else {
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row),
        "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
        : "memory");
  }
}
#endif

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
