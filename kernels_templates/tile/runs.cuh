// Runs of neighbours in memory, copied to shared memory as they are, by aligned chunks of 16 bytes.
// A run may begin anywhere in a chunk; its elements lie as far behind the start of its copy.
#pragma once

#include "tile/chunk.cuh"
#include "tile/contiguous.cuh"
#include "tile/types.cuh"

namespace tile {

constexpr int kChunkBytes = 16, kChunkWords = kChunkBytes / 4;

// Elements of a run's first chunk that lie before the run.
template <class T>
TILE_DEVICE u32 elements_before(const T* run) {
  return u32(reinterpret_cast<u64>(run)) % kChunkBytes / u32(sizeof(T));
}

// A thread's chunks of kRuns runs of kRun elements, in registers. Copies lie kPitch words apart.
template <class T, int kRun, int kRuns, int kPitch, int kThreads>
struct Runs {
  static constexpr int kCount = kChunkBytes / int(sizeof(T));
  static constexpr int kChunks = (kRun + 2 * (kCount - 1)) / kCount;  // of a run
  static constexpr int kSteps = (kChunks * kRuns + kThreads - 1) / kThreads;

  Contiguous<T, kCount> x[kSteps];

  // `run_at(r)` is where run r begins, or null if it lies outside; `valid` elements of it exist.
  // `end` is that of the tensor. kTail: tile/chunk.cuh.
  template <int kTail, class RunAt>
  TILE_DEVICE void load(RunAt run_at, int valid, const T* end) {
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      const int n = threadIdx.x + i * kThreads;
      const T* const run = n < kChunks * kRuns ? run_at(u32(n / kChunks)) : nullptr;
      if (run == nullptr) continue;
      const T* const chunk = run - elements_before(run) + n % kChunks * kCount;
      if (chunk < run + valid) load_chunk<kTail>(x[i], chunk, end);
    }
  }
  // Words are stored one by one: runs begin in different banks.
  TILE_DEVICE void put(u32* to) const {
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      const int n = threadIdx.x + i * kThreads;
      if (n >= kChunks * kRuns) continue;
      u32* const chunk = to + n / kChunks * kPitch + n % kChunks * kChunkWords;
#pragma unroll
      for (int w = 0; w < kChunkWords; ++w) chunk[w] = reinterpret_cast<const u32*>(&x[i])[w];
    }
  }
};

}  // namespace tile
