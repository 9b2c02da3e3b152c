// One thread's part of a tensor whose innermost mode has stride 1: kCount neighbours, accessed 16
// bytes at a time, or all at once if they are fewer. The base is aligned to the smaller of the two.
#pragma once

#include "tile/types.cuh"

namespace tile {

template <class T, int kCount>
struct alignas(sizeof(T) * kCount < 16 ? sizeof(T) * kCount : 16) Contiguous {
  T element[kCount];

  TILE_DEVICE void load(const T* p) { *this = *reinterpret_cast<const Contiguous*>(p); }
  TILE_DEVICE void store(T* p) const { *reinterpret_cast<Contiguous*>(p) = *this; }

  // At the ragged end of a row, only `valid` elements exist.
  TILE_DEVICE void load(const T* p, int valid) {
    if (valid == kCount) return load(p);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (i < valid) element[i] = p[i];
    }
  }
  // The same if not all exist, though one or more do: no load waits for another.
  TILE_DEVICE void load_end(const T* p, int valid) {
#pragma unroll
    for (int i = 0; i < kCount - 1; ++i) {
      if (i < valid) element[i] = p[i];
    }
  }
  TILE_DEVICE void store(T* p, int valid) const {
    if (valid == kCount) return store(p);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (i < valid) p[i] = element[i];
    }
  }
};

}  // namespace tile
