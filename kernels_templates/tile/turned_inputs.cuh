// Inputs that lie along rows, on their way to threads that lie across these. Shared memory has runs
// of kColumns rows, kPitch elements apart, as tile/turned.cuh has those of outputs.
#pragma once

#include "tile/async_copy.cuh"
#include "tile/barrier.cuh"
#include "tile/types.cuh"

namespace tile {

// Begins to bring the elements from `before` on that lie below `end`, kCopy at a time. Row c begins
// at from + begins[c]; if that is negative, it does not exist.
template <int kThreads, int kColumns, int kRowThreads, int kCluster, int kSteps, int kPitch,
          int kCopy, class T, class Index>
TILE_DEVICE void bring_turned(T* to, const T* from, const i64* begins, Index before, Index end) {
  constexpr int kCopies = kRowThreads * kSteps / kCopy;
  constexpr int kLanes = kCopies > 16 ? 32 : kCopies > 8 ? 16 : kCopies > 4 ? 8 : 4;
  constexpr int kAtOnce = kThreads / kLanes, kBatch = 8;
  const int lane = threadIdx.x % kLanes;
#pragma unroll 1
  for (int first = threadIdx.x / kLanes; first < kColumns; first += kBatch * kAtOnce) {
#pragma unroll 1
    for (int i = lane; i < kCopies; i += kLanes) {
      const int j = i * kCopy;
      const Index v = before + j / kRowThreads * (kRowThreads * kCluster) + j % kRowThreads;
      if (v >= end) break;
      T x[kBatch];
#pragma unroll
      for (int b = 0; b < kBatch; ++b) {
        const int c = first + b * kAtOnce;
        const i64 begin = c < kColumns ? begins[c] : -1;
        if (begin < 0) continue;
        if constexpr (kCopy * sizeof(T) >= 4) {
          async_copy<kCopy* int(sizeof(T))>(shared_address(to + c * kPitch + j), from + begin + v);
        } else {
          x[b] = from[begin + v];
        }
      }
      if constexpr (kCopy * sizeof(T) < 4) {
#pragma unroll
        for (int b = 0; b < kBatch; ++b) {
          const int c = first + b * kAtOnce;
          if (c < kColumns) to[c * kPitch + j] = x[b];
        }
      }
    }
  }
}

}  // namespace tile
