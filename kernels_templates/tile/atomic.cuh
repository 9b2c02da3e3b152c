// Atomic updates of one element of global memory, which return the old value. Types without an
// instruction are exchanged with the word that holds them until nobody has changed it in between.
#pragma once

#include "tile/bits.cuh"
#include "tile/types.cuh"

namespace tile {

// The integer of the same size that the instructions take.
template <int kBytes, bool kSigned>
struct AtomicWord {
  using type = i32;
};
template <>
struct AtomicWord<4, false> {
  using type = u32;
};
template <>
struct AtomicWord<8, true> {
  using type = i64;
};
template <>
struct AtomicWord<8, false> {
  using type = u64;
};
template <class T>
using WordOf = typename AtomicWord<int(sizeof(T)), (T(-1) < T(0))>::type;

// Two elements of 16 bits share a word.
template <class T>
TILE_DEVICE T atomic_add_narrow(T* p, T x) {
  const bool is_upper = (reinterpret_cast<u64>(p) & 2) != 0;
  u32* const word = reinterpret_cast<u32*>(reinterpret_cast<char*>(p) - (is_upper ? 2 : 0));
  const int shift = is_upper ? 16 : 0;
  u32 seen = *reinterpret_cast<volatile u32*>(word);
  for (;;) {
    T old;
    assign_bits(old, seen >> shift & 0xffffu);
    const T sum = store_as<T>(to_compute(old) + to_compute(x));
    const u32 made = (seen & ~(0xffffu << shift)) | (bits_of(sum) << shift);
    const u32 found = atomicCAS(word, seen, made);
    if (found == seen) return old;
    seen = found;
  }
}

template <class T>
TILE_DEVICE T atomic_add(T* p, T x) {
  if constexpr (sizeof(T) == 2) {
    return atomic_add_narrow(p, x);
  } else if constexpr (sizeof(T) == 8 && T(0.5f) == T(0)) {
    return T(atomicAdd(reinterpret_cast<u64*>(p), u64(x)));
  } else {
    return atomicAdd(p, x);
  }
}
template <class T>
TILE_DEVICE T atomic_max(T* p, T x) {
  return T(atomicMax(reinterpret_cast<WordOf<T>*>(p), WordOf<T>(x)));
}
template <class T>
TILE_DEVICE T atomic_min(T* p, T x) {
  return T(atomicMin(reinterpret_cast<WordOf<T>*>(p), WordOf<T>(x)));
}
template <class T>
TILE_DEVICE T atomic_and(T* p, T x) {
  return T(atomicAnd(reinterpret_cast<WordOf<T>*>(p), WordOf<T>(x)));
}
template <class T>
TILE_DEVICE T atomic_or(T* p, T x) {
  return T(atomicOr(reinterpret_cast<WordOf<T>*>(p), WordOf<T>(x)));
}
template <class T>
TILE_DEVICE T atomic_xor(T* p, T x) {
  return T(atomicXor(reinterpret_cast<WordOf<T>*>(p), WordOf<T>(x)));
}
template <class T>
TILE_DEVICE T atomic_exchange(T* p, T x) {
  if constexpr (sizeof(T) == 4) {
    const u32 old = atomicExch(reinterpret_cast<u32*>(p), reinterpret_cast<const u32&>(x));
    return reinterpret_cast<const T&>(old);
  } else {
    const u64 old = atomicExch(reinterpret_cast<u64*>(p), reinterpret_cast<const u64&>(x));
    return reinterpret_cast<const T&>(old);
  }
}

}  // namespace tile
