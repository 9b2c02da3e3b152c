// tile/barrier.cuh for the CPU, as far as it is needed: addresses of shared memory.
#pragma once

#include "tile/types.cuh"

extern "C" unsigned char memory[];  // the block's shared memory

namespace tile {

inline u32 shared_address(const void* p) {
  return static_cast<u32>(static_cast<const unsigned char*>(p) - memory);
}

}  // namespace tile
