// The place of a warp's largest or smallest value, by two instructions of sm_80 and later: one
// finds the value, the other the first of the places that have it. Exchanges of both between lanes
// would take five turns, each of which waits for the one before.
#pragma once

#include "tile/shuffle.cuh"

namespace tile {

TILE_DEVICE i32 first_place(bool has_it, i32 place) {
  u32 first;
  asm volatile("redux.sync.min.u32 %0, %1, -1;" : "=r"(first) : "r"(has_it ? u32(place) : ~0u));
  return i32(first);
}

// `place` is -1 in threads that have no value, and in all if none has. Values are no nan; 0 is
// added since -0 has other bits.
TILE_DEVICE void find_largest(float& value, i32& place) {
  const i32 key = place < 0 ? i32(0x80000000) : turned(__float_as_int(value + 0.f));
  i32 most;
  asm volatile("redux.sync.max.s32 %0, %1, -1;" : "=r"(most) : "r"(key));
  value = __int_as_float(turned(most));
  place = first_place(key == most, place);
}
TILE_DEVICE void find_smallest(float& value, i32& place) {
  const i32 key = place < 0 ? i32(0x7fffffff) : turned(__float_as_int(value + 0.f));
  i32 least;
  asm volatile("redux.sync.min.s32 %0, %1, -1;" : "=r"(least) : "r"(key));
  value = __int_as_float(turned(least));
  place = first_place(key == least, place);
}

}  // namespace tile
