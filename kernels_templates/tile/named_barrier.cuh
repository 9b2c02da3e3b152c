// Barriers of some of a block's warps (PTX ISA, "bar"). A block has 16; number 0 is the one of
// __syncthreads(). Numbers are constants, since a number in a register reserves all 16.
#pragma once

#include "tile/types.cuh"

namespace tile {

// Waits until kThreads threads, a multiple of 32, have arrived at barrier kId or wait at it.
// Afterwards, their writes to memory before that are visible.
template <int kId, int kThreads>
TILE_DEVICE void named_barrier_sync() {
  static_assert(kId > 0 && kId < 16 && kThreads % 32 == 0, "one of 15 barriers, whole warps");
  asm volatile("bar.sync %0, %1;" ::"n"(kId), "n"(kThreads) : "memory");
}

// Arrives without waiting. kThreads counts these threads too.
template <int kId, int kThreads>
TILE_DEVICE void named_barrier_arrive() {
  static_assert(kId > 0 && kId < 16 && kThreads % 32 == 0, "one of 15 barriers, whole warps");
  asm volatile("bar.arrive %0, %1;" ::"n"(kId), "n"(kThreads) : "memory");
}

}  // namespace tile
