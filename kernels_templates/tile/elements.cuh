// Single elements of vectors, for the ends of rows.
#pragma once

#include "tile/bits.cuh"
#include "tile/types.cuh"

namespace tile {

template <class T, int kCount>
struct Contiguous;
template <class T, int kCount>
struct Packed;

template <class T, int kCount>
TILE_DEVICE void store_element(const Contiguous<T, kCount>& x, T* p, int i) {
  p[i] = x.element[i];
}
template <class T, int kCount>
TILE_DEVICE void store_element(const Packed<T, kCount>& x, T* p, int i) {
  using Vector = Packed<T, kCount>;
  assign_bits(p[i], x.word[i / Vector::kPerWord] >> Vector::shift(i));
}

}  // namespace tile
