#pragma once

#include "tile/types.cuh"

namespace tile {

template <int kId, int kThreads>
TILE_DEVICE void named_barrier_sync() {
  emulation::named_barrier_sync(kId, kThreads);
}
template <int kId, int kThreads>
TILE_DEVICE void named_barrier_arrive() {
  emulation::named_barrier_arrive(kId, kThreads);
}

}  // namespace tile
