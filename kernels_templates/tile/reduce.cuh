// Reductions over the threads of groups (tile/groups.cuh) and over the blocks of a cluster. A value
// is of a type with a member `combine`, which takes another value, and a size that is a multiple of
// 4 bytes. The order in which values are combined depends on nothing but the template arguments.
#pragma once

#include "tile/groups.cuh"
#include "tile/shuffle.cuh"

namespace tile {

// A value for each row of a thread.
template <class T, int kRows>
struct Accumulators {
  T of[kRows];

  TILE_DEVICE void combine(const Accumulators& other) {
#pragma unroll
    for (int e = 0; e < kRows; ++e) of[e].combine(other.of[e]);
  }
};

// Combines all parts into the first one, pairwise.
template <class T, int kCount>
TILE_DEVICE void combine_parts(T (&part)[kCount]) {
#pragma unroll
  for (int q = 1; q < kCount; q += 2) part[q - 1].combine(part[q]);
#pragma unroll
  for (int q = 2; q < kCount; q += 2) part[0].combine(part[q]);
}

// Combines the values of a group that lies along, or across, a warp's threads, as far as they are
// in the same warp.
template <class Group, int kUnrolled, class T>
TILE_DEVICE void reduce_warp_along(T& x) {
  combine_neighbours<Group::kInWarp, Group::kSize >= 32, kUnrolled>(x);
}
template <class Group, class T, int kRows>
TILE_DEVICE void reduce_warp_across(T (&x)[kRows]) {
#pragma unroll 1
  for (int offset = Group::kInWarp / 2; offset > 0; offset /= 2) {
#pragma unroll
    for (int e = 0; e < kRows; ++e) x[e].combine(shuffle_xor(x[e], offset * Group::kStride));
  }
}

// The only block of a row: what tile/cluster_reduce.cuh has for the blocks of a cluster.
struct OneBlock {
  static constexpr int kBlocks = 1;
};

// Reductions of values of at most kBytes bytes, with kRows values per thread: one if groups lie
// along. An object is shared memory. Reduction n of a kernel uses buffer n % 2: a thread that is
// done with it knows that all threads are done with reduction n - 1. If groups do not lie along,
// there is one buffer: the warps' values come first, then the results. The results may still be
// read while the next reduction, whose values may be larger, writes its warps' values.
template <class Group, int kRows, int kBytes>
struct BlockReduction {
  static constexpr int kResults = Group::kCount * kRows;  // per block
  static constexpr int kBytesOfWarps = (kBytes * Group::kWarps * kResults + 15) / 16 * 16;
  static constexpr int kBufferBytes =
      Group::kAlong ? kBytes * (Group::kThreads / 32) : kBytesOfWarps + kBytes * kResults;

  alignas(16) unsigned char buffer[Group::kAlong ? 2 : 1][kBufferBytes > 0 ? kBufferBytes : 16];

  // Combines the values of each group; every thread gets the results of its group. `rank` and
  // `group` are those of the thread. Loops over neighbours are unrolled by kUnrolled: code for 1
  // takes half the time to compile.
  template <int kUnrolled, class T, class Cluster>
  TILE_DEVICE void reduce(T (&a)[kRows], int rank, int group, u32 n, Cluster& cluster) {
    if constexpr (Group::kAlong) {
      reduce_along<kUnrolled>(a[0], rank, group, n);
      if constexpr (Cluster::kBlocks > 1) {
        for (int to = rank; to < Cluster::kBlocks; to += Group::kSize)
          cluster.send(to, group, a[0], n);
        cluster.template wait<T>(n);
        a[0] = cluster.template result<T>(group, n);
      }
    } else if constexpr (Group::kSize * Cluster::kBlocks > 1) {
      reduce_across(a, rank, group, n, cluster);
    }
  }

 private:
  template <int kUnrolled, class T>
  TILE_DEVICE void reduce_along(T& x, int rank, int group, u32 n) {
    T* const of_warps = reinterpret_cast<T*>(buffer[n % 2]);
    reduce_warp_along<Group, kUnrolled>(x);
    if constexpr (Group::kWarps > 1) {
      if (rank % 32 == 0) of_warps[group * Group::kWarps + rank / 32] = x;
      __syncthreads();
      x = of_warps[group * Group::kWarps + rank % Group::kWarps];
      combine_neighbours<Group::kWarps, true, kUnrolled>(x);
    }
  }

  // Each thread combines some results of the block's warps, then every thread takes its own.
  template <class T, class Cluster>
  TILE_DEVICE void reduce_across(T (&a)[kRows], int rank, int group, u32 n, Cluster& cluster) {
    reduce_warp_across<Group>(a);
    T* const of_warps = reinterpret_cast<T*>(buffer[0]);
    T* const results = reinterpret_cast<T*>(buffer[0] + kBytesOfWarps);
    if (rank % Group::kInWarp == 0) {
      for (int e = 0; e < kRows; ++e)
        of_warps[(rank / Group::kInWarp * kRows + e) * Group::kCount + group] = a[e];
    }
    __syncthreads();
#pragma unroll 1
    for (int i = threadIdx.x; i < kResults; i += Group::kThreads) {
      T x = of_warps[i];
      for (int w = 1; w < Group::kWarps; ++w) x.combine(of_warps[w * kResults + i]);
      if constexpr (Cluster::kBlocks > 1) {
        for (int to = 0; to < Cluster::kBlocks; ++to) cluster.send(to, i, x, n);
      } else {
        results[i] = x;
      }
    }
    if constexpr (Cluster::kBlocks > 1) {
      cluster.template wait<T>(n);
#pragma unroll 1
      for (int i = threadIdx.x; i < kResults; i += Group::kThreads)
        results[i] = cluster.template result<T>(i, n);
    }
    __syncthreads();
    for (int e = 0; e < kRows; ++e) a[e] = results[e * Group::kCount + group];
  }
};

}  // namespace tile
