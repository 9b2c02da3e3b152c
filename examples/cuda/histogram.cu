// bins[b] = how many of the N codes are b. Each block counts in shared memory first.
#include "plan.cuh"  // kBins, kThreads, Params

extern "C" __global__ void __launch_bounds__(kThreads) histogram(const __grid_constant__ Params p) {
  extern __shared__ unsigned counts[];  // (kBins):(1)
  for (int b = threadIdx.x; b < kBins; b += kThreads) counts[b] = 0;
  __syncthreads();
  const i64 step = i64(gridDim.x) * kThreads;
  for (i64 i = blockIdx.x * i64(kThreads) + threadIdx.x; i < p.N; i += step) {
    const unsigned b = p.codes[i];
    if (b < kBins) atomicAdd(&counts[b], 1u);
  }
  __syncthreads();  // all counts of this block are there
  for (int b = threadIdx.x; b < kBins; b += kThreads) {
    if (counts[b] != 0) atomicAdd(&p.bins[b], counts[b]);
  }
}
