// Outputs that lie along rows, on their way from threads that lie across these. Shared memory has
// runs of kColumns rows, kPitch elements apart: for each of kSteps steps, the elements of
// kRowThreads threads, which lie kCluster times as far apart in the row.
#pragma once

#include "tile/types.cuh"

namespace tile {

// Stores the elements from `before` on that lie below `end`. Row c begins at to + begins[c]; if
// that is negative, it does not exist.
template <int kThreads, int kColumns, int kRowThreads, int kCluster, int kSteps, int kPitch,
          class T, class Index>
TILE_DEVICE void take_turned(T* to, const T* from, const i64* begins, Index before, Index end) {
  constexpr int kRun = kRowThreads * kSteps;
#pragma unroll 4
  for (int i = threadIdx.x; i < kColumns * kRun; i += kThreads) {
    const int column = i / kRun, j = i % kRun;
    const Index v = before + j / kRowThreads * (kRowThreads * kCluster) + j % kRowThreads;
    const i64 begin = begins[column];
    if (begin >= 0 && v < end) to[begin + v] = from[column * kPitch + j];
  }
}

}  // namespace tile
