// Strips of columns whose rows begin anywhere within a vector (fused_strips.cu).
#pragma once

#include "tile/async_copy.cuh"
#include "tile/barrier.cuh"
#include "tile/elements.cuh"
#include "tile/pin.cuh"
#include "tile/wide.cuh"

namespace tile {

// Places for a value of each column of a warp's vectors. Neither threads that take the same element
// of their vectors nor those of neighbouring columns ask the same banks for single words.
template <int kVector>
struct ColumnSlots {
  static constexpr int kPitch = 32 + 32 / kVector, kCount = kVector * kPitch;
  static TILE_DEVICE int of(int column) { return column % kVector * kPitch + column / kVector; }
};

// Begins to copy a vector to shared memory. If tensors do not end with a whole vector, nothing is
// read from `end` on.
template <int kCount, class T>
TILE_DEVICE void bring_vector(T* to, const T* from) {
  async_copy<kCount* int(sizeof(T))>(shared_address(to), from);
}
template <int kCount, class T>
TILE_DEVICE void bring_vector(T* to, const T* from, const T* end) {
  if (from + kCount <= end) return bring_vector<kCount>(to, from);
#pragma unroll 1
  for (; from < end; ++from) *to++ = *from;
}

// Elements from number `at` of a tensor to the next multiple of kSector.
template <int kSector>
TILE_DEVICE int before_sector(i64 at) {
  return int(-u32(at) % kSector);
}

// Elements `begin` to `end` of the vector at `p`.
template <class T>
struct Part {
  T* p;
  int begin, end;
};
template <class T>
TILE_DEVICE Part<T> part_at(T* p, int begin, int end) {
  return {p, begin, end};
}

// Stores a part of a vector, as one access if it is all.
template <class T, class Vector>
TILE_DEVICE void store_wide(const Part<T>& to, const Vector& x) {
  constexpr int kCount = int(sizeof(Vector) / sizeof(T));
  if (to.begin <= 0 && to.end >= kCount) return store_wide(to.p, x);
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    if (i >= to.begin && i < to.end) store_element(x, to.p, i);
  }
}

}  // namespace tile
