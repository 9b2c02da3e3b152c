// Barriers in shared memory that count bytes in flight to it, from sm_90 on (PTX ISA, "mbarrier").
// Each phase begins with a promise of bytes and ends when they have arrived.
#pragma once

#include "tile/types.cuh"

namespace tile {

TILE_DEVICE u32 shared_address(const void* p) {
  return u32(__cvta_generic_to_shared(p));
}

// Other threads see the barrier after the next barrier of the block; those of a cluster see it
// after the cluster's next barrier.
TILE_DEVICE void init_barrier(u64* barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Called by one thread per phase. Bytes may arrive before they are promised.
TILE_DEVICE void expect_bytes(u64* barrier, u32 bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}

// Waits for the end of the phase with that parity: 0 for the first, third, ...
TILE_DEVICE void wait_for_bytes(u64* barrier, u32 parity) {
  u32 done = 0;
  while (done == 0) {
    asm volatile(
        "{\n.reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
  }
}

}  // namespace tile
