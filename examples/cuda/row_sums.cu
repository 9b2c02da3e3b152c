// s(m) = sum over n of x(m,n). A block takes a tile of rows; the thread-value layout TV says which
// elements of the tile each thread adds up: TV(thread, value) is a coordinate of the tile, counted
// along its columns first, as CuTe does.
#include "plan.cuh"  // kThreads, kValues, BLK_M, BLK_N, TV, Params

extern "C" __global__ void __launch_bounds__(kThreads) row_sums(const __grid_constant__ Params p) {
  __shared__ float sums[BLK_M];
  if (threadIdx.x < BLK_M) sums[threadIdx.x] = 0;
  __syncthreads();
  const i64 row0 = blockIdx.x * i64(BLK_M);
  for (i64 column0 = 0; column0 < p.N; column0 += BLK_N) {
    for (int value = 0; value < kValues; ++value) {
      const i64 at = TV{}(threadIdx.x, value);  // m + BLK_M * n
      const i64 m = at % BLK_M, n = column0 + at / BLK_M;
      if (row0 + m < p.M && n < p.N) atomicAdd(&sums[m], p.x[(row0 + m) * p.N + n]);
    }
  }
  __syncthreads();
  if (threadIdx.x < BLK_M && row0 + threadIdx.x < p.M) p.s[row0 + threadIdx.x] = sums[threadIdx.x];
}
