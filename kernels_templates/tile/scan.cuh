// Scans over the threads of groups, and reductions beside them, as tile/reduce.cuh says. `combine`
// takes the value of what follows, and a new value is that of nothing.
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

// Shared memory in which warps leave values: of each of kGroups groups, from each of its kWarps
// warps, with numbers. Slots have the same size for every type, because groups that do not wait for
// each other may be at different types.
template <int kGroups, int kWarps, int kSlotBytes>
struct WarpSlots {
  unsigned char* base;
  int group;

  template <class T>
  TILE_DEVICE T& at(int n, int warp) const {
    const int slot = (n * kWarps + warp) * kGroups + group;
    return *reinterpret_cast<T*>(base + slot * kSlotBytes);
  }
};

// What warps left for each part and row, by lanes of the group, kStride apart, that have a warp's
// values each: sets `whole` to the combination of all warps, and puts that of the warps before this
// one before `a`. Many warps take longer one after another, since each of them asks for the values
// of all.
template <int kStride, int kParts, class T, int kRows, int kGroups, int kWarps, int kBytes>
TILE_DEVICE void join_warps_by_lanes(T (&a)[kParts][kRows], Parts<T, kParts, kRows>& whole,
                                     int lane, int warp,
                                     const WarpSlots<kGroups, kWarps, kBytes>& slots) {
#pragma unroll
  for (int n = 0; n < kParts * kRows; ++n)
    whole.at[n / kRows][n % kRows] = slots.template at<T>(n, lane % kWarps);
#pragma unroll 1
  for (int offset = 1; offset < kWarps; offset *= 2) {
#pragma unroll
    for (int n = 0; n < kParts * kRows; ++n) {
      T& x = whole.at[n / kRows][n % kRows];
      const T both = joined(shuffle_up(x, offset * kStride), x);
      if (lane >= offset) x = both;
    }
  }
  const int first = kStride > 1 ? int(threadIdx.x) % kStride : 0;  // lane of the group
#pragma unroll
  for (int n = 0; n < kParts * kRows; ++n) {
    T& x = whole.at[n / kRows][n % kRows];
    const T before = shuffle_from(x, first + (warp > 0 ? warp - 1 : 0) * kStride);
    if (warp > 0) a[n / kRows][n % kRows] = joined(before, a[n / kRows][n % kRows]);
    x = shuffle_from(x, first + (kWarps - 1) * kStride);
  }
}

// The same, one warp after another.
template <int kParts, class T, int kRows, int kGroups, int kWarps, int kBytes>
TILE_DEVICE void join_warps(T (&a)[kParts][kRows], Parts<T, kParts, kRows>& whole, int warp,
                            const WarpSlots<kGroups, kWarps, kBytes>& slots) {
#pragma unroll 1
  for (int w = 0; w < kWarps; ++w) {
#pragma unroll
    for (int n = 0; n < kParts * kRows; ++n) {
      T& before = whole.at[n / kRows][n % kRows];
      T& x = a[n / kRows][n % kRows];
      if (w == warp) x = joined(before, x);
      before.combine(slots.template at<T>(n, w));
    }
  }
}

// Replaces each part by the combination of what precedes it, and sets `all` to the combination of
// the whole, for every row of the group. Parts are ordered by part, then warp, then thread. The
// threads meet at one barrier: of the block if a group has several warps, of the warp if not. What
// a warp wrote may still be read when the next exchange begins, but no longer when that one ends.
// kInWarp threads of a group are in one warp, kStride apart.
template <int kInWarp, int kStride, int kParts, class T, int kRows, int kGroups, int kWarps,
          int kBytes>
TILE_DEVICE void scan_group(T (&a)[kParts][kRows], T (&all)[kRows], int rank,
                            WarpSlots<kGroups, kWarps, kBytes> slots) {
  const int in_warp = rank % kInWarp, warp = rank / kInWarp;
#pragma unroll 1
  for (int offset = 1; offset < kInWarp; offset *= 2) {
#pragma unroll
    for (int n = 0; n < kParts * kRows; ++n) {
      T& x = a[n / kRows][n % kRows];
      const T both = joined(shuffle_up(x, offset * kStride), x);
      if (in_warp >= offset) x = both;
    }
  }
  if (in_warp == kInWarp - 1) {
#pragma unroll
    for (int n = 0; n < kParts * kRows; ++n)
      slots.template at<T>(n, warp) = a[n / kRows][n % kRows];
  }
#pragma unroll
  for (int n = 0; n < kParts * kRows; ++n) {
    T& x = a[n / kRows][n % kRows];
    const T before = shuffle_up(x, kInWarp > 1 ? kStride : 0);
    x = in_warp > 0 ? before : T();
  }
  if constexpr (kWarps > 1) {
    __syncthreads();
  } else {
    __syncwarp();
  }
  Parts<T, kParts, kRows> part;
  if constexpr (kWarps >= 8 && (kInWarp == 32 || (kParts > 1 && kInWarp >= kWarps))) {
    join_warps_by_lanes<kStride>(a, part, in_warp, warp, slots);
  } else {
    join_warps(a, part, warp, slots);
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

// Replaces the value of each of kCount neighbours, a power of two, by the combination of what
// precedes it, and returns the combination of all.
template <int kCount, class T>
TILE_DEVICE T scan_lanes(T& a, int rank) {
#pragma unroll
  for (int offset = 1; offset < kCount; offset *= 2) {
    const T both = joined(shuffle_up(a, offset), a);
    if (rank >= offset) a = both;
  }
  const T all = shuffle_from(a, int(threadIdx.x) % 32 / kCount * kCount + kCount - 1);
  const T before = shuffle_up(a, 1);
  a = rank > 0 ? before : T();
  return all;
}

// Combines the values of each group; every thread gets the results of its group.
template <int kInWarp, int kStride, class T, int kRows, int kGroups, int kWarps, int kBytes>
TILE_DEVICE void reduce_group(T (&a)[kRows], int rank, WarpSlots<kGroups, kWarps, kBytes> slots) {
  constexpr bool kAreNeighbours = kStride == 1 && kRows == 1;
  if constexpr (kAreNeighbours) {
    combine_neighbours<kInWarp, kInWarp == 32, 1>(a[0]);
  } else {
    reduce_across_warp<kGroups>(a);
  }
  if constexpr (kWarps > 1) {
#pragma unroll
    for (int e = 0; e < kRows; ++e) {
      if (rank % kInWarp == 0) slots.template at<T>(e, rank / kInWarp) = a[e];
    }
    __syncthreads();
    if constexpr (kAreNeighbours) {
      a[0] = slots.template at<T>(0, rank % kWarps);
      combine_neighbours<kWarps, true, 1>(a[0]);
    } else {
#pragma unroll
      for (int e = 0; e < kRows; ++e) a[e] = slots.template at<T>(e, 0);
#pragma unroll 1
      for (int w = 1; w < kWarps; ++w) {
#pragma unroll
        for (int e = 0; e < kRows; ++e) a[e].combine(slots.template at<T>(e, w));
      }
    }
  }
}

}  // namespace tile
