// Reductions over the blocks of a cluster, from sm_90 on: each block sends its values to all, and
// all combine them in the same order.
#pragma once

#include "tile/cluster.cuh"

namespace tile {

// kResults values of at most kBytes bytes from each of kBlocks_ blocks, in shared memory. Reduction
// n of a kernel uses buffer n % 2.
template <int kBlocks_, int kResults, int kBytes>
struct ClusterReduction {
  static constexpr int kBlocks = kBlocks_;

  alignas(16) unsigned char of_blocks[2][kBytes * kBlocks * kResults];
  u64 arrived[2];  // counts bytes from the cluster's blocks

  // Called by all threads. Each waits for the cluster (cluster_wait) before the first reduction.
  TILE_DEVICE void init() {
    if (threadIdx.x < 2) init_barrier(&arrived[threadIdx.x]);
    cluster_arrive();
  }

  // Sends the block's part of result i to block `to` of the cluster, which may be itself.
  template <class T>
  TILE_DEVICE void send(int to, int i, const T& x, u32 n) {
    T* const values = reinterpret_cast<T*>(of_blocks[n % 2]);
    send_to_block(to, values + blockIdx.x % kBlocks * kResults + i, x, &arrived[n % 2]);
  }

  template <class T>
  TILE_DEVICE void wait(u32 n) {
    u64* const barrier = &arrived[n % 2];
    if (threadIdx.x == 0) expect_bytes(barrier, kBlocks * kResults * int(sizeof(T)));
    wait_for_bytes(barrier, n / 2 % 2);
  }

  // Result i, combined from all blocks.
  template <class T>
  TILE_DEVICE T result(int i, u32 n) const {
    return combined<kBlocks>(reinterpret_cast<const T*>(of_blocks[n % 2]) + i);
  }

 private:
  // Combines kCount blocks' parts of one result, pairwise.
  template <int kCount, class T>
  static TILE_DEVICE T combined(const T* values) {
    T x = *values;
    if constexpr (kCount > 1) {
      x = combined<kCount / 2>(values);
      x.combine(combined<kCount - kCount / 2>(values + kCount / 2 * kResults));
    }
    return x;
  }
};

}  // namespace tile
