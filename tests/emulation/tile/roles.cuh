#pragma once

#include "tile/types.cuh"

namespace tile {

TILE_DEVICE u32 warp_index() {
  return threadIdx.x / 32;
}
// Any lane, but always the same one.
TILE_DEVICE bool elect_one() {
  return threadIdx.x % 32 == 5;
}
template <int kRegisters>
TILE_DEVICE void release_registers() {}
template <int kRegisters>
TILE_DEVICE void take_registers() {}

}  // namespace tile
