// O = formula(softmax(score(Q * K)) * V, ...) by the tensor cores of warps (mma.sync), from sm_80
// on, without the matrix of scores in memory. A block has a tile of queries: its warps have rows of
// it, whose scores, softmax and output stay in their registers, while cp.async brings the blocks of
// K and V. Blocks of keys that the mask excludes are not brought.
#include "plan.cuh"  // generated: constants, Params, Work, with the formulas

extern "C" __global__ void __launch_bounds__(kThreads, kBlocks)
    KERNEL_NAME(const __grid_constant__ Params p) {
  extern __shared__ __align__(128) unsigned char memory[];
  follow_previous_kernel();
  attend_by_warps<Work>(p, memory);
}
