// The same by one thread for each bin, without shared memory: what the histogram is compared with.
#include "plan.cuh"

extern "C" __global__ void count_serially(const __grid_constant__ Params p) {
  const int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b >= kBins) return;
  unsigned count = 0;
  for (i64 i = 0; i < p.N; ++i) count += p.codes[i] == b;
  p.bins[b] = count;
}
