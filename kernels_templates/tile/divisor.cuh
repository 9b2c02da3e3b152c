// Division by a value known at launch.
#pragma once

#include "tile/types.cuh"

namespace tile {

// n / divisor for n < 2^31, after Granlund and Montgomery (1994). The host computes the fields.
struct FastDivisor {
  u64 divisor;
  u32 magic;
  u32 shift;
};

TILE_DEVICE u32 divide(u32 n, const FastDivisor& by) {
  return (__umulhi(n, by.magic) + n) >> by.shift;
}
TILE_DEVICE u64 divide(u64 n, const FastDivisor& by) {
  return n / by.divisor;
}

}  // namespace tile
