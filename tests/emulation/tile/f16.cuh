#pragma once

#include "tile/packed.cuh"

namespace tile {

struct f16 {
  u16 bits;
};
TILE_DEVICE void assign_bits(f16& x, u32 bits) {
  x.bits = u16(bits);
}
TILE_DEVICE u32 bits_of(f16 x) {
  return x.bits;
}
TILE_DEVICE float to_compute(f16 x) {
  return emulation::half_value(x.bits);
}
template <>
TILE_DEVICE f16 store_as<f16>(float x) {
  return {u16(emulation::half_bits(x))};
}

}  // namespace tile
