// Reductions over the threads of a cluster's blocks, from sm_90 on. Each block sends its values to
// all blocks, and all combine them in the same order.
#pragma once

#include "tile/cluster.cuh"
#include "tile/reduce.cuh"

namespace tile {

// kResults values of at most kBytes bytes from each of kBlocks blocks, in shared memory. Reduction
// n of a kernel uses buffer n % 2. Before the first: init_barriers and a barrier of the cluster.
template <int kBlocks, int kResults, int kBytes>
struct ClusterReduction {
  alignas(16) unsigned char of_blocks[2][kBytes * kBlocks * kResults];
  u64 arrived[2];  // counts bytes from the cluster's blocks

  // By the block's first thread, so in a branch: compute-sanitizer's racecheck takes one under a
  // predicate for writes by all threads, at whatever addresses their registers hold.
  TILE_DEVICE void init_barriers() {
    if (threadIdx.x != 0) return;
    init_barrier(&arrived[0]);
    init_barrier(&arrived[1]);
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

// reduce_along and reduce_across over all blocks of the cluster; every thread gets the result of
// its group.
template <int kSize, int kUnrolled, int kBlocks, int kResults, int kBytes, class T>
TILE_DEVICE void reduce_along(T& x, int rank, int group, T* of_warps, u32 n,
                              ClusterReduction<kBlocks, kResults, kBytes>& cluster) {
  reduce_along<kSize, kUnrolled>(x, rank, group, of_warps);
  for (int to = rank; to < kBlocks; to += kSize) cluster.send(to, group, x, n);
  cluster.template wait<T>(n);
  x = cluster.template result<T>(group, n);
}
template <int kSize, int kGroups, int kBlocks, int kResults, int kBytes, class T, int kRows>
TILE_DEVICE void reduce_across(T (&a)[kRows], int rank, int group, T* of_warps, T* results, u32 n,
                               ClusterReduction<kBlocks, kResults, kBytes>& cluster) {
  constexpr int kWarps = kSize / kThreadsInWarp<kGroups>;
  reduce_across_warp<kGroups>(a);
  leave_values_of_warp<kGroups>(a, rank, group, of_warps);
#pragma unroll 1
  for (int i = threadIdx.x; i < kResults; i += kSize * kGroups) {
    const T x = value_of_warps<kWarps, kResults>(i, of_warps);
    for (int to = 0; to < kBlocks; ++to) cluster.send(to, i, x, n);
  }
  cluster.template wait<T>(n);
#pragma unroll 1
  for (int i = threadIdx.x; i < kResults; i += kSize * kGroups)
    results[i] = cluster.template result<T>(i, n);
  __syncthreads();
  for (int e = 0; e < kRows; ++e) a[e] = results[e * kGroups + group];
}

}  // namespace tile
