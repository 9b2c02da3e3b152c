// Integers, f32 and f64, whose storage type is their compute type. Each of the other storage types
// has its own header: b8.cuh, f16.cuh, bf16.cuh, f8.cuh, tf32.cuh. A kernel includes only those
// that it uses, since every line is parsed in every compile. No header of the toolkit is included
// anywhere.
#pragma once

#define TILE_DEVICE __device__ __forceinline__

namespace tile {

using i8 = signed char;
using i16 = short;
using i32 = int;
using i64 = long long;
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using f32 = float;
using f64 = double;

// Every storage type has these two: the exact value in its compute type, and a value rounded to the
// storage type, once, to nearest even unless noted.
template <class T>
TILE_DEVICE T to_compute(T x) {
  return x;
}
template <class Storage, class Value>
TILE_DEVICE Storage store_as(Value x) {
  return x;
}

// The value that a store would leave in memory.
template <class Storage>
TILE_DEVICE float round_to(float x) {
  return to_compute(store_as<Storage>(x));
}

}  // namespace tile
