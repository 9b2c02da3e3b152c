// Copies from global to shared memory that a thread does not wait for, from sm_80 on (PTX ISA,
// "cp.async"). `to` is a shared address; both addresses are multiples of the size.
#pragma once

#include "tile/types.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error "tile/async_copy.cuh needs sm_80 or later: earlier targets have no cp.async"
#endif

namespace tile {

// Copies kBytes, 4, 8 or 16. Copies of 16 bytes bypass L1.
template <int kBytes>
TILE_DEVICE void async_copy(u32 to, const void* from) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16, "cp.async moves 4, 8 or 16 bytes");
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(from)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2;" ::"r"(to), "l"(from),
                 "n"(kBytes)
                 : "memory");
  }
}

// Copies the first `valid` of kBytes, and zeros for the rest. With 0, `from` is not read, but must
// be an address of global memory.
template <int kBytes>
TILE_DEVICE void async_copy_or_zero(u32 to, const void* from, u32 valid) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16, "cp.async moves 4, 8 or 16 bytes");
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "r"(valid)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2, %3;" ::"r"(to), "l"(from),
                 "n"(kBytes), "r"(valid)
                 : "memory");
  }
}

// Makes a group of the thread's copies since the last group. It may be empty.
TILE_DEVICE void async_copy_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until at most the kPending latest groups of this thread are in flight. Other threads see
// the data after the next barrier.
template <int kPending>
TILE_DEVICE void async_copy_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

}  // namespace tile
