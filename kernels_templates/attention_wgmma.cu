// O = formula(softmax(score(Q * K)) * V, ...) by the warpgroups of sm_90a (wgmma), without the
// matrix of scores in memory. The grid is persistent. In a block,
//
//   warpgroup 0      one warp brings Q, and block after block of K and V, through tensor maps;
//                    blocks of keys that the mask excludes are not brought
//   the others       have 64 rows each: scores, softmax and output stay in their registers
#include "plan.cuh"  // generated: constants, Params, Work, with the formulas

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    KERNEL_NAME(const __grid_constant__ Params p) {
  extern __shared__ __align__(1024) unsigned char memory[];
  attend_by_warpgroups<Work>(p, memory);
}
