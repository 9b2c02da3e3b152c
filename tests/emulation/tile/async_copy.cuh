#pragma once

#include "tile/types.cuh"

namespace tile {

using emulation::async_copy_commit;
using emulation::async_copy_or_zero;
using emulation::async_copy_wait;

template <int kBytes>
void async_copy(u32 to, const void* from) {
  async_copy_or_zero<kBytes>(to, from, kBytes);
}

}  // namespace tile
