// Kernels of one stream that overlap, from sm_90 on, where the second is launched so that it may
// (PTX ISA, "griddepcontrol"); elsewhere these do nothing.
#pragma once

#include "tile/types.cuh"

// The next kernel's blocks may start once all of this one have come here.
TILE_DEVICE void start_next_kernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// The end of the previous kernel, and all that it has written.
TILE_DEVICE void wait_for_previous_kernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// What every kernel does first, so that it may be launched either way: the next one's blocks take
// the places that this one leaves, and nothing is read before the previous one has written it.
TILE_DEVICE void follow_previous_kernel() {
  start_next_kernel();
  wait_for_previous_kernel();
}
