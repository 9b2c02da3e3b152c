// Runs of neighbouring elements on their way between global and shared memory: kThreads threads
// copy kCount elements, or the first `count` of them, 16 bytes at a time. Both runs begin at
// multiples of 16 bytes, and kCount is a multiple of the elements in 16 bytes.
#pragma once

#include "tile/types.cuh"
#include "tile/wide.cuh"

namespace tile {

struct alignas(16) RunChunk {
  u32 word[4];

  TILE_DEVICE void store(void* p) const { *reinterpret_cast<RunChunk*>(p) = *this; }
};

// One thread's chunks of a run. All are loaded before the first is stored.
template <class T, int kCount, int kThreads>
struct Run {
  static constexpr int kPerChunk = 16 / int(sizeof(T));
  static constexpr int kChunks = (kCount / kPerChunk + kThreads - 1) / kThreads;

  RunChunk chunk[kChunks];

  TILE_DEVICE void load(const T* from, int count) {
    const RunChunk* const chunks = reinterpret_cast<const RunChunk*>(from);
#pragma unroll
    for (int s = 0; s < kChunks; ++s) {
      const int i = int(threadIdx.x) + s * kThreads;
      if ((i + 1) * kPerChunk <= count) chunk[s] = chunks[i];
    }
  }

  // Stores them, the elements behind the last whole chunk, and zeros for those that do not exist.
  TILE_DEVICE void store(T* to, const T* from, int count) const {
#pragma unroll
    for (int s = 0; s < kChunks; ++s) {
      const int i = int(threadIdx.x) + s * kThreads;
      if ((i + 1) * kPerChunk <= count) reinterpret_cast<RunChunk*>(to)[i] = chunk[s];
    }
#pragma unroll 1
    for (int i = count / kPerChunk * kPerChunk + int(threadIdx.x); i < kCount; i += kThreads)
      to[i] = i < count ? from[i] : T();
  }
};

// Copies a run from shared memory. All chunks are loaded before the first is stored.
template <int kCount, int kThreads, class T>
TILE_DEVICE void store_run(T* to, const T* from, int count) {
  constexpr int kPerChunk = Run<T, kCount, kThreads>::kPerChunk;
  constexpr int kChunks = Run<T, kCount, kThreads>::kChunks;
  RunChunk chunk[kChunks];
#pragma unroll
  for (int s = 0; s < kChunks; ++s) {
    const int i = int(threadIdx.x) + s * kThreads;
    if ((i + 1) * kPerChunk <= kCount) chunk[s] = reinterpret_cast<const RunChunk*>(from)[i];
  }
  T* const first = to + int(threadIdx.x) * kPerChunk;
#pragma unroll
  for (int s = 0; s < kChunks; ++s) {
    const int i = int(threadIdx.x) + s * kThreads;
    if ((i + 1) * kPerChunk <= count) store_wide(first + s * kThreads * kPerChunk, chunk[s]);
  }
#pragma unroll 1
  for (int i = count / kPerChunk * kPerChunk + int(threadIdx.x); i < count; i += kThreads)
    to[i] = from[i];
}

// Copies `rows` rows of kLength elements that are no run, kUnit neighbours at a time, and zeros for
// the others of kRows. Threads side by side load what lies side by side: element e of row `slot` is
// at place(slot, e).
template <int kLength, int kUnit, int kRows, int kThreads, class T, class Place>
TILE_DEVICE void gather_rows(T* to, int rows, Place place) {
  struct alignas(kUnit * sizeof(T)) Unit {
    T element[kUnit];
  };
  constexpr int kOfRow = kLength / kUnit, kCount = kRows * kOfRow, kMostAtOnce = 16;
  constexpr int kOfThread = (kCount + kThreads - 1) / kThreads;
  constexpr int kAtOnce = kOfThread < kMostAtOnce ? kOfThread : kMostAtOnce;
#pragma unroll 1
  for (int begin = threadIdx.x; begin < kCount; begin += kAtOnce * kThreads) {
    Unit unit[kAtOnce];
#pragma unroll
    for (int s = 0; s < kAtOnce; ++s) {
      const u32 i = begin + s * kThreads, slot = i / kOfRow;
      unit[s] = int(slot) < rows
                    ? *reinterpret_cast<const Unit*>(place(slot, (i - slot * kOfRow) * kUnit))
                    : Unit{};
    }
#pragma unroll
    for (int s = 0; s < kAtOnce; ++s) {
      const int i = begin + s * kThreads;
      if (i < kCount) reinterpret_cast<Unit*>(to)[i] = unit[s];
    }
  }
}

}  // namespace tile
