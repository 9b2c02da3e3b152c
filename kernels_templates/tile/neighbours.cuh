// Elements that lie side by side along a tensor's contiguous axis, between memory and the registers
// of one thread. A thread has kCount of them, of which the first `valid` exist: none if `valid` is
// not positive.
#pragma once

#include "tile/contiguous.cuh"
#include "tile/packed.cuh"

namespace tile {

// A vector is one access of up to 16 bytes, or several. Elements of one or two bytes share words.
template <class T, int kCount>
TILE_DEVICE void load_wide(T* x, const T* p) {
  if constexpr (sizeof(T) < 4) {
    Packed<T, kCount> y;
    y.load(p);
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      assign_bits(x[i], y.word[i / y.kPerWord] >> Packed<T, kCount>::shift(i));
  } else {
    Contiguous<T, kCount> y;
    y.load(p);
#pragma unroll
    for (int i = 0; i < kCount; ++i) x[i] = y.element[i];
  }
}
template <class T, int kCount>
TILE_DEVICE void store_wide_from(T* p, const T* x) {
  if constexpr (sizeof(T) < 4) {
    using Vector = Packed<T, kCount>;
    Vector y;
#pragma unroll
    for (int w = 0; w < kCount / Vector::kPerWord; ++w) {
      y.word[w] = 0;
#pragma unroll
      for (int i = w * Vector::kPerWord; i < (w + 1) * Vector::kPerWord; ++i)
        y.word[w] |= typename Vector::Word(bits_of(x[i]) << Vector::shift(i));
    }
    y.store(p);
  } else {
    Contiguous<T, kCount> y;
#pragma unroll
    for (int i = 0; i < kCount; ++i) y.element[i] = x[i];
    y.store(p);
  }
}

// `wide` says that `p` is aligned to the vector. Elements that do not exist become `pad`.
template <int kCount, class T>
TILE_DEVICE void load_neighbours(T* x, const T* p, int valid, bool wide, T pad) {
  if constexpr (kCount > 1) {
    if (wide && valid >= kCount) return load_wide<T, kCount>(x, p);
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    if (i < valid) {
      x[i] = p[i];
    } else {
      x[i] = pad;
    }
  }
}
template <int kCount, class T>
TILE_DEVICE void store_neighbours(T* p, const T* x, int valid, bool wide) {
  if constexpr (kCount > 1) {
    if (wide && valid >= kCount) return store_wide_from<T, kCount>(p, x);
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    if (i < valid) p[i] = x[i];
  }
}

// From global to shared memory, where `to` is aligned to the vector.
template <int kCount, class T>
TILE_DEVICE void copy_wide(T* to, const T* p) {
  T x[kCount];
  load_wide<T, kCount>(x, p);
  store_wide_from<T, kCount>(to, x);
}
template <int kCount, class T>
TILE_DEVICE void copy_neighbours(T* to, const T* p, int valid, bool wide, T pad) {
  T x[kCount];
  load_neighbours<kCount>(x, p, valid, wide, pad);
  store_neighbours<kCount>(to, x, kCount, true);
}

}  // namespace tile
