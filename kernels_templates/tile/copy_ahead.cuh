// Neighbours from global to shared memory without waiting for them, from sm_80 on.
#pragma once

#include "tile/async_copy.cuh"
#include "tile/barrier.cuh"
#include "tile/neighbours.cuh"

namespace tile {

// Of elements that all exist and are aligned; or, with `base`, an address of the tensor, as
// copy_neighbours with a pad of zeros, where what is not aligned is copied at once.
template <int kCount, class T>
TILE_DEVICE void copy_ahead(T* to, const T* p) {
  async_copy<kCount* int(sizeof(T))>(shared_address(to), p);
}
template <int kCount, class T>
TILE_DEVICE void copy_ahead(T* to, const T* p, const T* base, int valid, bool wide) {
  constexpr int kBytes = kCount * int(sizeof(T));
  if (wide) {
    const int some = valid < 0 ? 0 : valid < kCount ? valid : kCount;
    async_copy_or_zero<kBytes>(shared_address(to), some > 0 ? p : base, u32(some) * sizeof(T));
  } else {
    copy_neighbours<kCount>(to, p, valid, false, T());
  }
}

}  // namespace tile
