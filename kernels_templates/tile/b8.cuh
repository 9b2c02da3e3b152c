// Booleans, one byte each.
#pragma once

#include "tile/packed.cuh"

namespace tile {

struct b8 {
  u8 value;  // 0 or 1; any other value reads as true
};

TILE_DEVICE void assign_bits(b8& x, u32 bits) {
  x.value = u8(bits);
}
TILE_DEVICE u32 bits_of(b8 x) {
  return x.value;
}
TILE_DEVICE bool to_compute(b8 x) {
  return x.value != 0;
}
template <>
TILE_DEVICE b8 store_as<b8>(bool x) {
  return {u8(x)};
}

template <>
TILE_DEVICE void unpack_word<b8>(u32 word, bool* x) {
  x[0] = (word & 0xffu) != 0;
  x[1] = (word & 0xff00u) != 0;
  x[2] = (word & 0xff0000u) != 0;
  x[3] = (word & 0xff000000u) != 0;
}

}  // namespace tile
