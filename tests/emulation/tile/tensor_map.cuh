#pragma once

#include "tile/types.cuh"

namespace tile {

using emulation::TensorMap;

template <int kRank>
struct Box {
  i32 at[kRank];
};
template <class... Coordinate>
Box(Coordinate...) -> Box<int(sizeof...(Coordinate))>;

TILE_DEVICE void prefetch_tensor_map(const TensorMap&) {}
TILE_DEVICE void fence_async_proxy() {}

template <int kRank>
TILE_DEVICE void load_box(u32 shared, const TensorMap& map, Box<kRank> box, u32 barrier) {
  emulation::load_box(shared, map, box.at, barrier);
}
template <int kRank>
TILE_DEVICE void load_box_multicast(u32 shared, const TensorMap& map, Box<kRank> box, u32 barrier,
                                    u16 mask) {
  emulation::load_box_multicast(shared, map, box.at, barrier, mask);
}
template <int kRank>
TILE_DEVICE void store_box(const TensorMap& map, Box<kRank> box, u32 shared) {
  emulation::store_box(map, box.at, shared);
}
using emulation::store_commit;
template <int kPending>
TILE_DEVICE void store_wait_read() {
  emulation::store_wait(kPending, &emulation::BoxStore::read);
}
template <int kPending>
TILE_DEVICE void store_wait() {
  emulation::store_wait(kPending, &emulation::BoxStore::write);
}

}  // namespace tile
