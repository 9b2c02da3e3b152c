// What several kernels of this folder share.
#pragma once

// The sum over the 32 threads of a warp; every thread has it.
__device__ __forceinline__ float warp_sum(float x) {
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(~0u, x, step);
  return x;
}

// The sum over a block of kThreads; thread 0 has it.
template <int kThreads>
__device__ __forceinline__ float block_sum(float x) {
  __shared__ float of_warp[kThreads / 32];
  x = warp_sum(x);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = x;
  __syncthreads();
  if (threadIdx.x >= 32) return 0;
  return warp_sum(threadIdx.x < kThreads / 32 ? of_warp[threadIdx.x] : 0.f);
}
