// Roles of warps in a block, from sm_90 on: one thread chosen per warp, and registers handed from
// the warps that load to the warps that multiply (PTX ISA, "elect.sync" and "setmaxnreg").
#pragma once

#include "tile/types.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#error "tile/roles.cuh needs sm_90 or later: earlier targets have no elect.sync"
#endif

namespace tile {

// The warp's number in its block. The compiler then knows that it is the same for all lanes.
TILE_DEVICE u32 warp_index() {
  return __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);
}

// True for one lane of the warp, whose lanes all call this together.
TILE_DEVICE bool elect_one() {
  u32 elected;
  asm volatile("{ .reg .pred p; .reg .b32 r; elect.sync r|p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
               : "=r"(elected));
  return elected != 0;
}

// From now on the threads of the calling warpgroup have kRegisters registers each. A kernel that
// calls these has `__launch_bounds__(threads, 1)`, begins with 65536 / threads registers (rounded
// down to a multiple of 8), and each role is one branch of one if. All warps of a warpgroup call
// the same function. take_registers waits until other warpgroups have released enough. Targets:
// sm_90a, sm_100a, sm_120a.
template <int kRegisters>
TILE_DEVICE void release_registers() {
  static_assert(kRegisters % 8 == 0 && kRegisters >= 24 && kRegisters <= 256, "setmaxnreg");
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
TILE_DEVICE void take_registers() {
  static_assert(kRegisters % 8 == 0 && kRegisters >= 24 && kRegisters <= 256, "setmaxnreg");
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

}  // namespace tile
