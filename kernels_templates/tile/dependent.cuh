// Kernels of one stream that overlap, from sm_90 on, where the second is launched so that it may
// (PTX ISA, "griddepcontrol"); elsewhere these do nothing.
#pragma once

#include "tile/types.cuh"

// What every kernel does first, so that it may be launched either way: the next one's blocks may
// start once all of this one have come here, and take the places that it leaves; and nothing is
// read before the previous kernel has ended, and all that it has written is seen.
TILE_DEVICE void follow_previous_kernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
