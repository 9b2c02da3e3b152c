// Values that threads of a block combine with each other. `combine` takes two values and returns
// one; its order of operands does not matter. All threads that combine get the same bits.
#pragma once

#include "tile/shuffle.cuh"

namespace tile {

// Of threads of a warp whose numbers differ in the bits of kMask.
template <int kMask, class T, int kCount, class Combine>
TILE_DEVICE void combine_lanes(T (&x)[kCount], Combine combine) {
#pragma unroll
  for (int bit = 16; bit > 0; bit /= 2) {
    if ((kMask & bit) != 0) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) x[i] = combine(x[i], shuffle_xor(x[i], bit));
    }
  }
}

// A value and where it was found: of two equal values the first place counts.
template <class T>
struct Placed {
  T value;
  i64 place;  // -1: there is none
};
template <class T>
TILE_DEVICE Placed<T> first_greatest(const Placed<T>& a, const Placed<T>& b) {
  const bool takes_b = b.place >= 0 && (a.place < 0 || b.value > a.value ||
                                        (b.value == a.value && b.place < a.place));
  return takes_b ? b : a;
}
template <class T>
TILE_DEVICE Placed<T> first_least(const Placed<T>& a, const Placed<T>& b) {
  const bool takes_b = b.place >= 0 && (a.place < 0 || b.value < a.value ||
                                        (b.value == a.value && b.place < a.place));
  return takes_b ? b : a;
}

}  // namespace tile
