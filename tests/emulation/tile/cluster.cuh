#pragma once

#include "tile/barrier.cuh"

namespace tile {

using emulation::address_in_block;
using emulation::cluster_arrive;
using emulation::cluster_wait;

TILE_DEVICE void cluster_sync() {
  cluster_arrive();
  cluster_wait();
}
template <class T>
TILE_DEVICE void send_to_block(int rank, T* to, const T& x, u64* barrier) {
  const u32 address = address_in_block(shared_address(to), u32(rank)),
            counter = address_in_block(shared_address(barrier), u32(rank));
  for (u32 i = 0; i < sizeof(T) / 4; ++i) {
    emulation::send(address + 4 * i, reinterpret_cast<const u32*>(&x)[i], counter);
  }
}
TILE_DEVICE void send_words(u32 to, const u32 (&words)[4], u32 barrier) {
  emulation::send(to, std::to_array(words), barrier);
}

}  // namespace tile
