// Vectors of rows that begin at unaligned addresses, as rows of odd length do. The vectors lie at
// aligned addresses, so each takes one wide access; only stores at the ends of a row go element by
// element. Bit i of `exists` says whether element i of a vector belongs to the row.
#pragma once

#include "tile/chunk.cuh"
#include "tile/elements.cuh"
#include "tile/types.cuh"
#include "tile/wide.cuh"

namespace tile {

template <class T, int kCount>
struct Strided;

// The `exists` bits of vector `v` of a row of `extent` elements, whose first vector has `shift`
// elements before the row.
template <int kCount>
TILE_DEVICE u32 existing(i32 v, i32 shift, i32 extent) {
  constexpr u32 kAll = (1u << kCount) - 1;
  const i32 rest = extent + shift - v * kCount;
  u32 exists = rest >= kCount ? kAll : rest > 0 ? kAll >> (kCount - rest) : 0;
  return v == 0 ? exists & (kAll << shift) : exists;
}

// Also reads elements before and after the row, so that threads at the ends of rows use the same
// load; but reads nothing from `end` on, where the tensor ends. kTail: tile/chunk.cuh.
template <int kTail, template <class, int> class Vector, class T, int kCount>
TILE_DEVICE void load_peeled(Vector<T, kCount>& x, const T* p, const T* end, u32 exists) {
  if constexpr (kTail == 0) {
    if (exists != 0) x.load(p);
  } else {
    load_chunk<kTail>(x, p, end);
  }
}
template <template <class, int> class Vector, class T, int kCount>
TILE_DEVICE void store_peeled(T* p, const Vector<T, kCount>& x, u32 exists) {
  if (exists == (1u << kCount) - 1) return store_wide(p, x);
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    if (exists >> i & 1) store_element(x, p, i);
  }
}

template <class T, int kCount>
TILE_DEVICE void load_peeled(Strided<T, kCount>& x, const T* p, i64 stride, u32 exists) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    if (exists >> i & 1) x.element[i] = p[i * stride];
  }
}
template <class T, int kCount>
TILE_DEVICE void store_peeled(T* p, const Strided<T, kCount>& x, i64 stride, u32 exists) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    if (exists >> i & 1) p[i * stride] = x.element[i];
  }
}

}  // namespace tile
