// D[M][N] = A[M][K] * B[N][K]^T in bf16 with f32 sums, from sm_80 on: what the headers of the tile
// library make of a matrix product by warps. cp.async fills kStages of shared memory, ldmatrix
// loads fragments from swizzled rows of 64 bytes, and 8 warps multiply parts of 64 x 32 of a tile
// of 128 x 128. K is a multiple of 8.
//
// product.cuh, written by the library, has Mma: a product of 16 x 8 x 16.
#include "tile/async_copy.cuh"
#include "tile/barrier.cuh"
#include "tile/bf16.cuh"
#include "tile/ldmatrix.cuh"
#include "tile/mma.cuh"

#include "product.cuh"

using namespace tile;

constexpr int kRows = 128, kColumns = 128, kDepth = 32, kStages = 3, kThreads = 256;
constexpr u32 kRowBytes = 2 * kDepth, kTileBytes = kRows * kRowBytes, kStageBytes = 2 * kTileBytes;

// 128 rows of a matrix with K columns, from row `first` and column k on, zeros outside.
TILE_DEVICE void load_rows(u32 to, const u16* matrix, i64 first, i64 rows, i64 k, i64 K) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const u32 number = threadIdx.x + i * kThreads, row = number / 4, chunk = number % 4;
    const i64 column = k + chunk * 8;
    const bool inside = first + row < rows && column < K;
    const u16* const from = inside ? matrix + (first + row) * K + column : matrix;
    async_copy_or_zero<16>(to + swizzled_chunk<kRowBytes>(row, chunk), from, inside ? 16 : 0);
  }
}

struct Warp {
  f32 d[4][4][Mma::kC];
  i64 first_row, first_column;  // of the tile
  u32 row, column, lane;        // of the warp's part in the tile

  TILE_DEVICE void multiply(u32 stage) {
#pragma unroll
    for (int k = 0; k < kDepth / Mma::kK; ++k) {
      u32 a[4][Mma::kA], b[4][Mma::kB];
      const MatrixRow in_a = matrix_row_of_a(lane), in_b = matrix_row_of_b(lane);
#pragma unroll
      for (int m = 0; m < 4; ++m) {
        load_matrices(
            a[m], stage + swizzled_chunk<kRowBytes>(row + 16 * m + in_a.row, 2 * k + in_a.chunk));
      }
#pragma unroll
      for (int n = 0; n < 4; n += 2) {
        u32 two[4];  // B of two products
        const u32 at = swizzled_chunk<kRowBytes>(column + 8 * n + in_b.row, 2 * k + in_b.chunk);
        load_matrices(two, stage + kTileBytes + at);
#pragma unroll
        for (int i = 0; i < 4; ++i) b[n + i / 2][i % 2] = two[i];
      }
#pragma unroll
      for (int m = 0; m < 4; ++m) {
#pragma unroll
        for (int n = 0; n < 4; ++n) accumulate<Mma>(d[m][n], a[m], b[n]);
      }
    }
  }

  TILE_DEVICE void store(u16* to, i64 M, i64 N) const {
#pragma unroll
    for (int m = 0; m < 4; ++m) {
#pragma unroll
      for (int n = 0; n < 4; ++n) {
#pragma unroll
        for (int i = 0; i < Mma::kC; ++i) {
          const i64 r = first_row + row + 16 * m + Mma::row_c(lane, i);
          const i64 c = first_column + column + 8 * n + Mma::column_c(lane, i);
          if (r < M && c < N) to[r * N + c] = store_as<bf16>(d[m][n][i]).bits;
        }
      }
    }
  }
};

extern "C" __global__ void __launch_bounds__(kThreads)
    gemm(const u16* a, const u16* b, u16* to, i64 M, i64 N, i64 K) {
  extern __shared__ __align__(512) unsigned char memory[];
  const u32 stages = shared_address(memory), warp = threadIdx.x / 32;
  const i32 blocks = i32((K + kDepth - 1) / kDepth), tiles_m = i32((M + kRows - 1) / kRows);
  Warp part;
  part.first_row = i64(blockIdx.x % tiles_m) * kRows;
  part.first_column = i64(blockIdx.x / tiles_m) * kColumns;
  part.row = warp % 2 * 64;
  part.column = warp / 2 * 32;
  part.lane = threadIdx.x % 32;
  const auto load = [&](i32 block) {
    if (block < blocks) {
      const u32 stage = stages + block % kStages * kStageBytes;
      load_rows(stage, a, part.first_row, M, i64(block) * kDepth, K);
      load_rows(stage + kTileBytes, b, part.first_column, N, i64(block) * kDepth, K);
    }
    async_copy_commit();  // also if empty, so that groups and blocks are counted alike
  };
#pragma unroll
  for (int m = 0; m < 4; ++m) {
#pragma unroll
    for (int n = 0; n < 4; ++n) clear(part.d[m][n]);
  }
  for (i32 block = 0; block < kStages - 1; ++block) load(block);
#pragma unroll 1
  for (i32 block = 0; block < blocks; ++block) {
    async_copy_wait<kStages - 2>();
    __syncthreads();  // the block has arrived for all, and the stage before it is free
    load(block + kStages - 1);
    part.multiply(stages + block % kStages * kStageBytes);
  }
  part.store(to, M, N);
}
