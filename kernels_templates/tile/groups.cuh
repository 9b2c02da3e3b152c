// How the threads of a block share rows: in groups, each of which has one row, or several rows side
// by side.
#pragma once

#include "tile/types.cuh"

namespace tile {

// Groups of kSize_ threads, a power of two. If kAlong_, the threads of a group are neighbours;
// otherwise they are as far apart as there are groups, and neighbours belong to different groups.
template <int kThreads_, int kSize_, bool kAlong_>
struct Groups {
  static constexpr int kThreads = kThreads_;  // of the block
  static constexpr int kSize = kSize_;
  static constexpr int kCount = kThreads / kSize;
  static constexpr bool kAlong = kAlong_;
  static constexpr int kStride = kAlong ? 1 : kCount;  // from one thread of a group to the next
  // Threads that a group has in one warp, and warps that have threads of one group.
  static constexpr int kInWarp = kAlong         ? (kSize < 32 ? kSize : 32)
                                 : kCount >= 32 ? 1
                                                : 32 / kCount;
  static constexpr int kWarps = kSize / kInWarp;

  // The number of a thread of the block in its group, and of its group in the block. As arguments,
  // thread numbers are read once.
  static TILE_DEVICE u32 rank(u32 thread) { return kAlong ? thread % kSize : thread / kCount; }
  static TILE_DEVICE u32 index(u32 thread) { return kAlong ? thread / kSize : thread % kCount; }
};

}  // namespace tile
