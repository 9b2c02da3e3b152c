#pragma once

#include "tile/types.cuh"

namespace tile {

using emulation::mbarrier_arrive;
using emulation::mbarrier_arrive_expect;
using emulation::mbarrier_init;
using emulation::mbarrier_wait;

TILE_DEVICE void mbarrier_fence_init() {}
TILE_DEVICE void mbarrier_arrive_in_block(u32 barrier, u32 rank) {
  emulation::mbarrier_arrive(emulation::address_in_block(barrier, rank));
}

}  // namespace tile
