// Blocks of a cluster, from sm_90 on: barriers, and writes to each other's shared memory.
#pragma once

#include "tile/barrier.cuh"

namespace tile {

// Waits until all blocks have arrived. Afterwards, their writes to memory before the barrier are
// visible.
TILE_DEVICE void cluster_sync() {
  asm volatile(
      "barrier.cluster.arrive.release.aligned;\n"
      "barrier.cluster.wait.acquire.aligned;" ::
          : "memory");
}

// The same in two steps, without ordering memory.
TILE_DEVICE void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
TILE_DEVICE void cluster_wait() {
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}

// The address of shared memory that another block of the cluster has at the same place.
TILE_DEVICE u32 address_in_block(u32 own, u32 rank) {
  u32 address;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(own), "r"(rank));
  return address;
}
TILE_DEVICE u32 address_in_block(const void* own, int rank) {
  u32 address = shared_address(own);
  asm("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(address) : "r"(rank));
  return address;
}

// Writes x to the copy of `to` in block `rank` of the cluster. That block's copy of `barrier`
// counts the bytes. The size must be a multiple of 4.
template <class T>
TILE_DEVICE void send_to_block(int rank, T* to, const T& x, u64* barrier) {
  const u32 address = address_in_block(to, rank), counter = address_in_block(barrier, rank);
#pragma unroll
  for (int i = 0; i < int(sizeof(T) / 4); ++i) {
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(
                     address + 4 * i),
                 "r"(reinterpret_cast<const u32*>(&x)[i]), "r"(counter)
                 : "memory");
  }
}

// Writes four words to shared memory of a block of the cluster, whose barrier counts the bytes;
// both as address_in_block says.
TILE_DEVICE void send_words(u32 to, const u32 (&words)[4], u32 barrier) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, "
      "[%5];" ::"r"(to),
      "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]), "r"(barrier)
      : "memory");
}

}  // namespace tile
