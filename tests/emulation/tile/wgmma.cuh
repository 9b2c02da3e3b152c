#pragma once

#include "tile/mma.cuh"

namespace tile {

using emulation::wgmma_commit;
using emulation::wgmma_fence;

template <int kPending>
TILE_DEVICE void wgmma_wait() {
  emulation::wgmma_wait(kPending);
}
template <class T, int kCount>
TILE_DEVICE void pin(T (&)[kCount]) {}

}  // namespace tile
