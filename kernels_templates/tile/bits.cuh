// Elements of one or two bytes as bits of a word.
#pragma once

#include "tile/types.cuh"

namespace tile {

// An element of an integer type and its bits, in the low end of a word. The other types overload
// these.
template <class T>
TILE_DEVICE void assign_bits(T& x, u32 bits) {
  x = T(bits);
}
template <class T>
TILE_DEVICE u32 bits_of(T x) {
  return sizeof(T) == 1 ? u8(x) : u16(x);
}

}  // namespace tile
