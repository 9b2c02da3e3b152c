// TF32: stored as f32, with 10 bits of the mantissa kept.
#pragma once

#include "tile/types.cuh"

namespace tile {

struct tf32 {
  float value;
};

TILE_DEVICE float to_compute(tf32 x) {
  return x.value;
}
template <>
TILE_DEVICE tf32 store_as<tf32>(float x) {  // to nearest, ties away from zero, as cvt.rna.tf32 does
  const u32 bits = __float_as_uint(x);
  if ((bits & 0x7f800000u) == 0x7f800000u) return {x};
  return {__uint_as_float((bits + 0x1000u) & 0xffffe000u)};
}

}  // namespace tile
