// D = formula(A * B, ...) by the tensor cores of warps (mma.sync), from sm_80 on. A block computes
// one tile: cp.async fills a ring of stages in shared memory, whose layouts neither copies nor
// loads of fragments find banks twice in, and the sums go through shared memory to the formula,
// which takes them vector by vector with its other operands. Blocks that share a tile add their
// sums in one order.
#include "plan.cuh"  // generated: constants, Params, Work, with the formula

extern "C" __global__ void __launch_bounds__(kThreads, kBlocks)
    KERNEL_NAME(const __grid_constant__ Params p) {
  extern __shared__ __align__(1024) unsigned char memory[];
  follow_previous_kernel();
  multiply_matrices<Work>(p, memory);
}
