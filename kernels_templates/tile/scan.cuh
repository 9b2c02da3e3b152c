// Scans over the threads of groups (tile/groups.cuh), and reductions beside them. A value is of a
// type with a member `combine`, which takes the value of what follows, and a size that is a
// multiple of 4 bytes; a new value is that of nothing. The order in which values are combined
// depends on nothing but the template arguments.
#pragma once

#include "tile/reduce.cuh"

namespace tile {

template <class T>
TILE_DEVICE T joined(T before, const T& behind) {
  before.combine(behind);
  return before;
}

// The compilers of CUDA 13.0 initialise only the first row of a local array of arrays, but all rows
// of a member.
template <class T, int kCount, int kRows>
struct Parts {
  T at[kCount][kRows];
};

// The sum of many totals for each row of a thread, kept in several parts, so that errors grow with
// only a small fraction of the number of totals. A part sums kTurns totals of the part before.
template <class T, int kRows, int kLevels, int kTurns>
struct RunningTotal {
  T part[kLevels][kRows];

  // `count` totals have been added before.
  template <class Count>
  TILE_DEVICE void add(const T (&total)[kRows], Count count) {
    join(part[0], total);
#pragma unroll
    for (int level = 1; level < kLevels; ++level) {
      if (++count % kTurns != 0) return;
      count = count / kTurns - 1;
      join(part[level], part[level - 1]);
#pragma unroll
      for (int e = 0; e < kRows; ++e) part[level - 1][e] = T();
    }
  }
  TILE_DEVICE void get(T (&total)[kRows]) const {
#pragma unroll
    for (int e = 0; e < kRows; ++e) total[e] = part[kLevels - 1][e];
#pragma unroll
    for (int level = kLevels - 2; level >= 0; --level) join(total, part[level]);
  }

  static TILE_DEVICE void join(T (&before)[kRows], const T (&behind)[kRows]) {
#pragma unroll
    for (int e = 0; e < kRows; ++e) before[e].combine(behind[e]);
  }
};

// Scans and reductions of values of at most kBytes bytes, with kCount values per thread. An object
// is shared memory. Exchanges alternate between its two buffers: what a warp wrote may still be
// read when the next exchange begins, but no longer when that one ends.
template <class Group, int kCount, int kBytes>
struct BlockScan {
  // Slots have the same size for every type, because groups that do not wait for each other may be
  // at different types.
  static constexpr int kSlotBytes = kBytes > 4 ? (kBytes + 7) / 8 * 8 : 4;

  alignas(16) unsigned char buffer[2][kCount * Group::kWarps * Group::kCount * kSlotBytes];

  // Replaces each part by the combination of what precedes it, and sets `all` to the combination of
  // the whole, for every row of the group. Parts are ordered by part, then warp, then thread. The
  // threads meet at one barrier: of the block if a group has several warps, of the warp if not.
  // `turn` counts the exchanges; `rank` and `group` are those of the thread.
  template <int kParts, class T, int kRows>
  TILE_DEVICE void scan(T (&a)[kParts][kRows], T (&all)[kRows], int rank, int group, int& turn) {
    unsigned char* const slots = buffer[turn++ % 2];
    const int in_warp = rank % Group::kInWarp, warp = rank / Group::kInWarp;
#pragma unroll 1
    for (int offset = 1; offset < Group::kInWarp; offset *= 2) {
#pragma unroll
      for (int n = 0; n < kParts * kRows; ++n) {
        T& x = a[n / kRows][n % kRows];
        const T both = joined(shuffle_up(x, offset * Group::kStride), x);
        if (in_warp >= offset) x = both;
      }
    }
    if (in_warp == Group::kInWarp - 1) {
#pragma unroll
      for (int n = 0; n < kParts * kRows; ++n)
        slot<T>(slots, n, warp, group) = a[n / kRows][n % kRows];
    }
#pragma unroll
    for (int n = 0; n < kParts * kRows; ++n) {
      T& x = a[n / kRows][n % kRows];
      const T before = shuffle_up(x, Group::kInWarp > 1 ? Group::kStride : 0);
      x = in_warp > 0 ? before : T();
    }
    if constexpr (Group::kWarps > 1) {
      __syncthreads();
    } else {
      __syncwarp();
    }
    Parts<T, kParts, kRows> part;
#pragma unroll 1
    for (int w = 0; w < Group::kWarps; ++w) {
#pragma unroll
      for (int n = 0; n < kParts * kRows; ++n) {
        T& before = part.at[n / kRows][n % kRows];
        T& x = a[n / kRows][n % kRows];
        if (w == warp) x = joined(before, x);
        before.combine(slot<T>(slots, n, w, group));
      }
    }
#pragma unroll
    for (int e = 0; e < kRows; ++e) {
      all[e] = part.at[0][e];
#pragma unroll
      for (int i = 1; i < kParts; ++i) {
        a[i][e] = joined(all[e], a[i][e]);
        all[e].combine(part.at[i][e]);
      }
    }
  }

  // Combines the values of each group; every thread gets the results of its group.
  template <class T, int kRows>
  TILE_DEVICE void reduce(T (&a)[kRows], int rank, int group, int& turn) {
    if constexpr (Group::kAlong) {
      reduce_warp_along<Group, 1>(a[0]);
    } else {
      reduce_warp_across<Group>(a);
    }
    if constexpr (Group::kWarps > 1) {
      unsigned char* const slots = buffer[turn++ % 2];
#pragma unroll
      for (int e = 0; e < kRows; ++e) {
        if (rank % Group::kInWarp == 0) slot<T>(slots, e, rank / Group::kInWarp, group) = a[e];
      }
      __syncthreads();
      if constexpr (Group::kAlong) {
        a[0] = slot<T>(slots, 0, rank % Group::kWarps, group);
        combine_neighbours<Group::kWarps, true, 1>(a[0]);
      } else {
#pragma unroll
        for (int e = 0; e < kRows; ++e) a[e] = slot<T>(slots, e, 0, group);
#pragma unroll 1
        for (int w = 1; w < Group::kWarps; ++w) {
#pragma unroll
          for (int e = 0; e < kRows; ++e) a[e].combine(slot<T>(slots, e, w, group));
        }
      }
    }
  }

 private:
  template <class T>
  static TILE_DEVICE T& slot(unsigned char* slots, int n, int warp, int group) {
    const int slot = (n * Group::kWarps + warp) * Group::kCount + group;
    return *reinterpret_cast<T*>(slots + slot * kSlotBytes);
  }
};

}  // namespace tile
