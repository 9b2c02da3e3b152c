// D = formula(A * B, ...) by the warpgroups of sm_90a (wgmma). The grid is persistent. In a block,
//
//   warpgroup 0      one thread fills a ring of stages in shared memory through tensor maps;
//                    what the blocks of a cluster share, each of them loads a part of for all
//   the others       multiply, 64 rows or 128 each, and hand their sums to the formula warp by
//                    warp; meanwhile the ring fills with the next tile, and other warpgroups
//                    multiply
//
// Blocks of a cluster that share a tile, each with a part of K, add their sums first.
#include "plan.cuh"  // generated: constants, Params, Work, with the formula

extern "C" __global__ void __cluster_dims__(kBlocks, 1, 1) __launch_bounds__(kThreads, 1)
    KERNEL_NAME(const __grid_constant__ Params p) {
  extern __shared__ __align__(1024) unsigned char memory[];
  multiply_by_warpgroups<Work>(p, memory);
}
