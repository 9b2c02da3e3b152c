// Barriers in shared memory with a count of arrivals and of bytes in flight, from sm_90 on (PTX
// ISA, "mbarrier"). `barrier` is the shared address of 8 bytes. A phase ends when as many threads
// have arrived as `init` said and all bytes that were promised are there; the next phase then
// begins with the same count. The first phase has parity 0, the next parity 1, and so on.
#pragma once

#include "tile/types.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#error "tile/mbarrier.cuh needs sm_90 or later: earlier targets cannot wait for bytes in flight"
#endif

namespace tile {

// `count` arrivals end a phase. One thread calls this, then mbarrier_fence_init, before the next
// barrier of the block or the cluster.
TILE_DEVICE void mbarrier_init(u32 barrier, u32 count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
TILE_DEVICE void mbarrier_fence_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

TILE_DEVICE void mbarrier_arrive(u32 barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Arrives, and promises bytes that copies will bring: fewer than 2^20 in a phase.
TILE_DEVICE void mbarrier_arrive_expect(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

// Arrives at the same barrier of block `rank` of the cluster, without publishing this thread's
// writes to that block: a release at cluster scope is a fence of all memory (MEMBAR.ALL.GPU), which
// in the loop of a matrix product costs a quarter of the speed.
TILE_DEVICE void mbarrier_arrive_in_block(u32 barrier, u32 rank) {
  asm volatile(
      "{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1; "
      "mbarrier.arrive.shared::cluster.b64 _, [remote]; }" ::"r"(barrier),
      "r"(rank)
      : "memory");
}

// Arrives when the thread's cp.async copies so far have landed. The arrival counts as one of the
// phase's. The data still needs fence_async_proxy before wgmma reads it.
TILE_DEVICE void mbarrier_arrive_after_copies(u32 barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

// Returns when the phase of that parity has ended. On a new barrier, parity 1 passes at once.
TILE_DEVICE void mbarrier_wait(u32 barrier, u32 parity) {
  asm volatile(
      "{ .reg .pred p; L%=: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @p bra D%=; "
      "bra L%=; D%=: }" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

}  // namespace tile
