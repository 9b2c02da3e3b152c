// Vectors of a tile that the edge of the space cuts off, loaded without branches, which would make
// each load wait for the one before.
#pragma once

#include "tile/chunk.cuh"
#include "tile/split.cuh"

namespace tile {

// Loads the vector at p, kAccess elements per access, but for what lies behind the tensor's end.
// Behind the edge come neighbours, if their memory is the tensor's. The last kAccess elements of a
// tensor are kTail if that is not 0, or any number if it is negative.
template <int kAccess, int kTail, template <class, int> class Form, class T, int kCount>
TILE_DEVICE void load_before_end(Form<T, kCount>& x, const T* p, const T* end) {
#pragma unroll
  for (int i = 0; i < kCount; i += kAccess) {
    Form<T, kAccess> piece;
    load_chunk<kTail>(piece, p + i, end);
    set_piece<kAccess>(x, i / kAccess, piece);
  }
}

// Loads the first `valid` elements of the vector at p, of which each kAccess exist or not.
template <int kAccess, template <class, int> class Form, class T, int kCount>
TILE_DEVICE void load_existing(Form<T, kCount>& x, const T* p, int valid) {
#pragma unroll
  for (int i = 0; i < kCount; i += kAccess) {
    Form<T, kAccess> piece;
    if (i < valid) piece.load(p + i);
    set_piece<kAccess>(x, i / kAccess, piece);
  }
}

}  // namespace tile
