// y(i,j) = sum over the 3x3 taps (a,b) of x(i,j,a,b) * w(a,b). The descriptor views the padded
// image as (H,W,3,3): the layout of x says where the taps of each pixel lie.
#include "plan.cuh"  // BLK, Window, Taps, Params

extern "C" __global__ void __launch_bounds__(BLK* BLK)
    convolution(const __grid_constant__ Params p) {
  const i64 j = blockIdx.x * BLK + threadIdx.x, i = blockIdx.y * BLK + threadIdx.y;
  if (i >= kHeight || j >= kWidth) return;
  float sum = 0;
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) sum += p.x[Window{}(i, j, a, b)] * p.w[Taps{}(a, b)];
  }
  p.y[i * kWidth + j] = sum;
}
