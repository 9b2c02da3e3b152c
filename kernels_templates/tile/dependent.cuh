// Overlap of two kernels on one stream, from sm_90 on, if the second is launched so that it may
// overlap (PTX ISA, "griddepcontrol"). Otherwise these do nothing.
#pragma once

#include "tile/types.cuh"

namespace tile {

// Every kernel calls this first, so that it may be launched either way. Once all blocks of this
// kernel have called it, the next kernel's blocks may start in the places that this one leaves.
// Nothing is read before the previous kernel has ended and all its writes are visible.
TILE_DEVICE void follow_previous_kernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace tile
