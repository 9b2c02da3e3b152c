// Products by the four warps of a warpgroup, of operands in shared memory; A may be in registers.
// The instruction and its operands are structs that the library writes from its table of atoms
// (docs/atoms.md): the former has `fma`, the latter descriptors. Target: sm_90a (PTX ISA, "wgmma").
//
//   wgmma_fence();                         // before the first product of a batch
//   Mma::fma<true>(d, a, b);               // d = a * b, then d += a * b
//   wgmma_commit();
//   wgmma_wait<0>();                       // until then, d and A's registers are not touched
//
// All four warps call these together, and the first of them has a multiple of 4 as its index. What
// ordinary writes put into shared memory needs fence_async_proxy and a barrier before the fence.
#pragma once

#include "tile/mma.cuh"
#include "tile/pin.cuh"

#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
#error "tile/wgmma.cuh needs sm_90a: no other target has wgmma"
#endif

namespace tile {

TILE_DEVICE void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
TILE_DEVICE void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// Waits until at most the kPending latest batches are in flight, 0 to 7.
template <int kPending>
TILE_DEVICE void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

}  // namespace tile
