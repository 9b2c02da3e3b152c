// Sums of blocks that share a tile, each with a part of K, through their shared memory. The blocks
// of a tile are in one cluster, so that this takes no other memory and no second kernel. Target:
// sm_90 and later.
#pragma once

#include "tile/cluster.cuh"
#include "tile/mbarrier.cuh"

namespace tile {

// kCount sums of a thread and kWarps warps of a block, in kParts parts. What warp w of all parts
// has ends in warp w of part w % kParts: first its own sums, then those of the parts after it, so
// that every launch adds them in the same order.
template <class Sum, int kCount, int kWarps, int kParts>
struct SplitSums {
  static constexpr u32 kOfWarp = 32 * kCount * u32(sizeof(Sum));  // bytes
  static constexpr u32 kBytes = (kWarps + kParts - 1) / kParts * (kParts - 1) * kOfWarp;
  static_assert(sizeof(Sum) == 4 && kCount % 4 == 0, "sums move four at a time");

  // One thread calls this before the next barrier of the cluster. `barrier` counts what the block
  // of that part gets.
  static TILE_DEVICE void init(u32 barrier, u32 part) {
    const u32 adding = (kWarps + kParts - 1 - part) / kParts;  // warps
    mbarrier_init(barrier, 1);
    mbarrier_fence_init();
    mbarrier_arrive_expect(barrier, adding * (kParts - 1) * kOfWarp);
  }

  // Whether this warp has all sums afterwards; otherwise it has none. Part q of the tile is block
  // first + q * apart of the cluster, and this one is of part `part`. `memory` has kBytes, which
  // the block no longer uses for anything else. All warps with sums, in all blocks, call this once.
  template <int kHeight, int kEach>
  static TILE_DEVICE bool add(Sum (&d)[kHeight][kEach], u32 memory, u32 barrier, u32 warp, u32 part,
                              u32 first, u32 apart, u32 lane) {
    static_assert(kHeight * kEach == kCount, "all of a thread's sums");
    const u32 adds = warp % kParts;
    cluster_arrive();
    cluster_wait();  // no block uses its memory
    if (part != adds) {
      const u32 from = (part + kParts - adds) % kParts, to = first + adds * apart;
      send(d, address_in_block(place(memory, warp, from, lane), to), address_in_block(barrier, to));
      return false;
    }
    mbarrier_wait(barrier, 0);
#pragma unroll 1
    for (u32 from = 1; from < kParts; ++from) receive(d, place(memory, warp, from, lane));
    return true;
  }

 private:
  // Where the sums lie that a warp gets from the part that is `from` after its own.
  static TILE_DEVICE u32 place(u32 memory, u32 warp, u32 from, u32 lane) {
    return memory + (warp / kParts * (kParts - 1) + from - 1) * kOfWarp + lane * 16;
  }

  template <int kHeight, int kEach>
  static TILE_DEVICE void send(const Sum (&d)[kHeight][kEach], u32 to, u32 barrier) {
#pragma unroll
    for (int i = 0; i < kCount; i += 4) {
      u32 words[4];
#pragma unroll
      for (int j = 0; j < 4; ++j)
        words[j] = reinterpret_cast<const u32&>(d[i / kEach][i % kEach + j]);
      send_words(to + i * 128, words, barrier);
    }
  }

  template <int kHeight, int kEach>
  static TILE_DEVICE void receive(Sum (&d)[kHeight][kEach], u32 from) {
#pragma unroll
    for (int i = 0; i < kCount; i += 4) {
      u32 words[4];
      asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                   : "r"(from + i * 128)
                   : "memory");
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        d[i / kEach][i % kEach + j] += reinterpret_cast<const Sum&>(words[j]);
      }
    }
  }
};

}  // namespace tile
