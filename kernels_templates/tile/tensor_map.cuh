// Boxes of tensors between global and shared memory by the tensor memory accelerator, from sm_90 on
// (PTX ISA, "cp.async.bulk.tensor"). One thread calls each function. Coordinates are in elements,
// innermost dimension first, and may lie outside the tensor: a load brings zeros there, a store
// writes nothing. `shared` is a shared address, a multiple of 128 and of the swizzle's pattern
// (1024 for 128 bytes).
#pragma once

#include "tile/types.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#error "tile/tensor_map.cuh needs sm_90 or later: earlier targets have no tensor maps"
#endif

namespace tile {

// A CUtensorMap. As a kernel's argument it is a `const __grid_constant__ TensorMap`, or a member of
// such a struct; a copy in local memory does not work.
struct alignas(64) TensorMap {
  u64 opaque[16];
};

TILE_DEVICE void prefetch_tensor_map(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// How long the second-level cache keeps the lines of a copy.
TILE_DEVICE u64 keep_in_l2() {
  u64 policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
TILE_DEVICE u64 evict_first_from_l2() {
  u64 policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

// A box's place in a tensor of one to five dimensions: Box(x, y) is of two.
template <int kRank>
struct Box {
  i32 at[kRank];
};
template <class... Coordinate>
Box(Coordinate...) -> Box<int(sizeof...(Coordinate))>;

// Makes ordinary writes of shared memory visible to copies and to wgmma: each thread that wrote
// calls this, then a barrier, then one thread starts the copy.
TILE_DEVICE void fence_async_proxy() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// load_box brings a box to shared memory, where `barrier`, the shared address of an mbarrier,
// counts its bytes. With a mask, the box lands at the same offset, and is counted at the same
// barrier, in each block of the cluster whose bit is set; targets: sm_90a, sm_100a. store_box
// writes a box from shared memory, and add_box adds it, in an order that varies from run to run.
// prefetch_box brings a box to the second-level cache.
//
// Operands 5 and on are the coordinates, 3 is the mask and 4 the policy, for every rank.
#define TILE_BOX_COPIES(kRank, coordinates, ...)                                                  \
  TILE_DEVICE void load_box(u32 shared, const TensorMap& map, Box<kRank> box, u32 barrier) {      \
    asm volatile("cp.async.bulk.tensor." #kRank                                                   \
                 "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "                    \
                 "[%0], [%1, " coordinates "], [%2];" ::"r"(shared),                              \
                 "l"(&map), "r"(barrier), "n"(0), "n"(0), __VA_ARGS__                             \
                 : "memory");                                                                     \
  }                                                                                               \
  TILE_DEVICE void load_box_hinted(u32 shared, const TensorMap& map, Box<kRank> box, u32 barrier, \
                                   u64 policy) {                                                  \
    asm volatile("cp.async.bulk.tensor." #kRank                                                   \
                 "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "     \
                 "[%0], [%1, " coordinates "], [%2], %4;" ::"r"(shared),                          \
                 "l"(&map), "r"(barrier), "n"(0), "l"(policy), __VA_ARGS__                        \
                 : "memory");                                                                     \
  }                                                                                               \
  TILE_DEVICE void load_box_multicast(u32 shared, const TensorMap& map, Box<kRank> box,           \
                                      u32 barrier, u16 mask) {                                    \
    asm volatile("cp.async.bulk.tensor." #kRank                                                   \
                 "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster " \
                 "[%0], [%1, " coordinates "], [%2], %3;" ::"r"(shared),                          \
                 "l"(&map), "r"(barrier), "h"(mask), "n"(0), __VA_ARGS__                          \
                 : "memory");                                                                     \
  }                                                                                               \
  TILE_DEVICE void load_box_multicast_hinted(u32 shared, const TensorMap& map, Box<kRank> box,    \
                                             u32 barrier, u16 mask, u64 policy) {                 \
    asm volatile("cp.async.bulk.tensor." #kRank                                                   \
                 "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"  \
                 ".L2::cache_hint [%0], [%1, " coordinates "], [%2], %3, %4;" ::"r"(shared),      \
                 "l"(&map), "r"(barrier), "h"(mask), "l"(policy), __VA_ARGS__                     \
                 : "memory");                                                                     \
  }                                                                                               \
  TILE_DEVICE void store_box(const TensorMap& map, Box<kRank> box, u32 shared) {                  \
    asm volatile("cp.async.bulk.tensor." #kRank                                                   \
                 "d.global.shared::cta.tile.bulk_group [%1, " coordinates                         \
                 "], [%0];" ::"r"(shared),                                                        \
                 "l"(&map), "n"(0), "n"(0), "n"(0), __VA_ARGS__                                   \
                 : "memory");                                                                     \
  }                                                                                               \
  TILE_DEVICE void add_box(const TensorMap& map, Box<kRank> box, u32 shared) {                    \
    asm volatile("cp.reduce.async.bulk.tensor." #kRank                                            \
                 "d.global.shared::cta.add.tile.bulk_group [%1, " coordinates                     \
                 "], [%0];" ::"r"(shared),                                                        \
                 "l"(&map), "n"(0), "n"(0), "n"(0), __VA_ARGS__                                   \
                 : "memory");                                                                     \
  }                                                                                               \
  TILE_DEVICE void prefetch_box(const TensorMap& map, Box<kRank> box) {                           \
    asm volatile("cp.async.bulk.prefetch.tensor." #kRank "d.L2.global.tile [%1, " coordinates     \
                 "];" ::"n"(0),                                                                   \
                 "l"(&map), "n"(0), "n"(0), "n"(0), __VA_ARGS__                                   \
                 : "memory");                                                                     \
  }
TILE_BOX_COPIES(1, "{%5}", "r"(box.at[0]))
TILE_BOX_COPIES(2, "{%5, %6}", "r"(box.at[0]), "r"(box.at[1]))
TILE_BOX_COPIES(3, "{%5, %6, %7}", "r"(box.at[0]), "r"(box.at[1]), "r"(box.at[2]))
TILE_BOX_COPIES(4, "{%5, %6, %7, %8}", "r"(box.at[0]), "r"(box.at[1]), "r"(box.at[2]),
                "r"(box.at[3]))
TILE_BOX_COPIES(5, "{%5, %6, %7, %8, %9}", "r"(box.at[0]), "r"(box.at[1]), "r"(box.at[2]),
                "r"(box.at[3]), "r"(box.at[4]))
#undef TILE_BOX_COPIES

// Makes a group of the thread's stores since the last group.
TILE_DEVICE void store_commit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
// Waits until at most the kPending latest groups still read shared memory. A block must not end
// before its stores have read.
template <int kPending>
TILE_DEVICE void store_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}
// Waits until all but the kPending latest groups are complete.
template <int kPending>
TILE_DEVICE void store_wait() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(kPending) : "memory");
}

}  // namespace tile
