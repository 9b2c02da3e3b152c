// d = alpha * sum over i of x[i] * y[i]. Blocks add their parts to d, which starts at 0.
#include "plan.cuh"  // T, kThreads, Params
#include "reduce.cuh"

extern "C" __global__ void __launch_bounds__(kThreads) dot(const __grid_constant__ Params p) {
  float sum = 0;
  const i64 step = i64(gridDim.x) * kThreads;
  for (i64 i = blockIdx.x * i64(kThreads) + threadIdx.x; i < p.N; i += step) {
    sum += to_compute(p.x[i]) * to_compute(p.y[i]);
  }
  sum = block_sum<kThreads>(sum);
  if (threadIdx.x == 0) atomicAdd(p.d, p.alpha * sum);
}
