// Assertions: what does not hold is noted in host memory, which the host reads when it has waited.
#pragma once

#include "tile/types.cuh"

namespace tile {

// Sets word `number` of `words`, which lie in host memory: bit 63, the block's x from bit 32 on,
// its y from bit 16 on, its z. One store, so the last of several blocks stays. Null: nobody asks.
TILE_DEVICE void note_failure(u64* words, int number, i64 x, i64 y, i64 z) {
  if (words == nullptr) return;
  *static_cast<volatile u64*>(words + number) = u64(1) << 63 | u64(x) << 32 | u64(y) << 16 | u64(z);
}

}  // namespace tile
