// Blocks of a cluster, from sm_90 on: they meet, and read each other's shared memory.
#pragma once

#include "tile/types.cuh"

TILE_DEVICE void cluster_sync() {
  asm volatile(
      "barrier.cluster.arrive.release.aligned;\n"
      "barrier.cluster.wait.acquire.aligned;" ::
          : "memory");
}

// What block `rank` of the cluster has at the place of `own` in its shared memory.
template <class T>
TILE_DEVICE T read_of_block(const T* own, int rank) {
  u32 address = u32(__cvta_generic_to_shared(own));
  asm("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(address) : "r"(rank));
  T x;
#pragma unroll
  for (int i = 0; i < int(sizeof(T) / 4); ++i) {
    asm volatile("ld.shared::cluster.b32 %0, [%1];"
                 : "=r"(reinterpret_cast<u32*>(&x)[i])
                 : "r"(address + 4 * i)
                 : "memory");
  }
  return x;
}
