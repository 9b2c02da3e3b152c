#pragma once

#include "tile/types.cuh"

namespace tile {

using emulation::shared_address;

TILE_DEVICE void init_barrier(u64* barrier) {
  emulation::mbarrier_init(shared_address(barrier), 1);
}
TILE_DEVICE void expect_bytes(u64* barrier, u32 bytes) {
  emulation::mbarrier_arrive_expect(shared_address(barrier), bytes);
}
TILE_DEVICE void wait_for_bytes(u64* barrier, u32 parity) {
  emulation::mbarrier_wait(shared_address(barrier), parity);
}

}  // namespace tile
