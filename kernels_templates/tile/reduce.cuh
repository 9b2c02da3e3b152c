// Reductions over the threads of a block. A group of kSize threads, a power of two, shares a row,
// or several rows side by side; `rank` is a thread's number in its group. The threads of a group
// are neighbours (reduce_along), or as far apart as there are groups (reduce_across). A value is of
// a type with a member `combine`, which takes another value, and a size that is a multiple of 4
// bytes. The order in which values are combined depends on nothing but the template arguments.
//
// Loops that often have one turn end with `while (kRows > 1 && ++e < kRows)`. With one row, there
// is no loop. A loop of one turn takes the compiler 0.01 to 0.02 of the time of an empty kernel.
#pragma once

#include "tile/shuffle.cuh"

namespace tile {

// A value for each row of a thread.
template <class T, int kRows>
struct Accumulators {
  T of[kRows];

  TILE_DEVICE void combine(const Accumulators& other) {
    int e = 0;
#pragma unroll
    do {
      of[e].combine(other.of[e]);
    } while (kRows > 1 && ++e < kRows);
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

// Threads of a warp that belong to the same one of kGroups groups, if groups do not lie along.
template <int kGroups>
constexpr int kThreadsInWarp = kGroups >= 32 ? 1 : 32 / kGroups;

// Combines the values of a group that lies along; each thread gets the result. If groups have
// several warps, the block meets at a barrier, and `of_warps` has room in shared memory for a value
// from each of its warps. Loops over threads are unrolled by kUnrolled: code for 1 takes half the
// time to compile.
template <int kSize, int kUnrolled, class T>
TILE_DEVICE void reduce_along(T& x, int rank, int group, T* of_warps) {
  combine_neighbours<(kSize < 32 ? kSize : 32), kSize >= 32, kUnrolled>(x);
  constexpr int kWarps = kSize / 32;
  if constexpr (kWarps > 1) {
    if (rank % 32 == 0) of_warps[group * kWarps + rank / 32] = x;
    __syncthreads();
    x = of_warps[group * kWarps + rank % kWarps];
    combine_neighbours<kWarps, true, kUnrolled>(x);
  }
}

// The same for groups that do not lie along, in steps. First, the threads of a warp that belong to
// the same group combine their values.
template <int kGroups, int kUnrolled = 1, class T, int kRows>
TILE_DEVICE void reduce_across_warp(T (&x)[kRows]) {
#pragma unroll kUnrolled
  for (int offset = kThreadsInWarp<kGroups> / 2; offset > 0; offset /= 2) {
    int e = 0;
#pragma unroll
    do {
      x[e].combine(shuffle_xor(x[e], offset * kGroups));
    } while (kRows > 1 && ++e < kRows);
  }
}

// Then each warp leaves its values in shared memory, kGroups * kRows of them; and the value with
// number i, one for each row of the block, is combined from all warps that have threads of its row.
template <int kGroups, class T, int kRows>
TILE_DEVICE void leave_values_of_warp(const T (&x)[kRows], int rank, int group, T* of_warps) {
  constexpr int kInWarp = kThreadsInWarp<kGroups>;
  if (rank % kInWarp == 0) {
    for (int e = 0; e < kRows; ++e) of_warps[(rank / kInWarp * kRows + e) * kGroups + group] = x[e];
  }
  __syncthreads();
}
template <int kWarps, int kResults, class T>
TILE_DEVICE T value_of_warps(int i, const T* of_warps) {
  T x = of_warps[i];
  for (int w = 1; w < kWarps; ++w) x.combine(of_warps[w * kResults + i]);
  return x;
}

// All of it. Each thread combines some values of the block's warps, then every thread takes its
// own. `of_warps` has room for the values of all warps, `results` for those of the block.
template <int kSize, int kGroups, class T, int kRows>
TILE_DEVICE void reduce_across(T (&a)[kRows], int rank, int group, T* of_warps, T* results) {
  constexpr int kResults = kGroups * kRows, kWarps = kSize / kThreadsInWarp<kGroups>;
  reduce_across_warp<kGroups>(a);
  leave_values_of_warp<kGroups>(a, rank, group, of_warps);
#pragma unroll 1
  for (int i = threadIdx.x; i < kResults; i += kSize * kGroups)
    results[i] = value_of_warps<kWarps, kResults>(i, of_warps);
  __syncthreads();
  for (int e = 0; e < kRows; ++e) a[e] = results[e * kGroups + group];
}

// The same if each warp combines the values of all warps for itself: the block then meets once.
// Threads of a warp that belong to the same group share these values if a block has many.
template <int kSize, int kGroups, class T, int kRows>
TILE_DEVICE void reduce_across_once(T (&a)[kRows], int rank, int group, T* of_warps) {
  constexpr int kInWarp = kThreadsInWarp<kGroups>, kWarps = kSize / kInWarp;
  constexpr bool kMany = kWarps * kRows * (kSize * kGroups / 32) > 64;
  constexpr int kSharing = !kMany ? 1 : kInWarp < kWarps ? kInWarp : kWarps;
  reduce_across_warp<kGroups, 5>(a);
  if constexpr (kWarps == 1) return;
  leave_values_of_warp<kGroups>(a, rank, group, of_warps);
#pragma unroll
  for (int e = 0; e < kRows; ++e) {
    const T* const values = of_warps + (rank % kSharing * kRows + e) * kGroups + group;
    a[e] = *values;
#pragma unroll
    for (int w = kSharing; w < kWarps; w += kSharing) a[e].combine(values[w * kRows * kGroups]);
#pragma unroll
    for (int offset = kSharing / 2; offset > 0; offset /= 2)
      a[e].combine(shuffle_xor(a[e], offset * kGroups));
  }
}

}  // namespace tile
