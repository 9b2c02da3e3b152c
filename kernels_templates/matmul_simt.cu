// D = formula(A * B, ...) without tensor cores, for all types and layouts. A block computes one
// tile. Its operands lie in shared memory as the type of the sums and along rows, so that threads
// read 16 bytes of rows at a time; cp.async transposes f32 and f64 on the way, and other types are
// converted in registers. The rest is as in matmul_mma.cu.
#include "plan.cuh"  // generated: constants, Params, Work, with the formula

extern "C" __global__ void __launch_bounds__(kThreads, kBlocks)
    KERNEL_NAME(const __grid_constant__ Params p) {
  extern __shared__ __align__(1024) unsigned char memory[];
  follow_previous_kernel();
  multiply_matrices<Work>(p, memory);
}
