// Registers that the compiler must have where they are written.
#pragma once

#include "tile/types.cuh"

namespace tile {

// Keep ordinary uses of registers on their side of a fence or a wait, or in their branch. They cost
// nothing.
template <int kCount>
TILE_DEVICE void pin(float (&r)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(r[i])::"memory");
}
template <int kCount>
TILE_DEVICE void pin(u32 (&r)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+r"(r[i])::"memory");
}
template <int kCount>
TILE_DEVICE void pin(i32 (&r)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+r"(r[i])::"memory");
}

}  // namespace tile
