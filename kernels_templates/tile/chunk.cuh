// Aligned chunks of a vector's size, of which the last may lie across the end of its tensor. Loads
// have no branches, because these would make each load wait for the one before.
#pragma once

#include "tile/types.cuh"

namespace tile {

// Loads the chunk's first kBytes bytes, by words and what is left.
template <int kBytes, class Vector>
TILE_DEVICE void load_first(Vector& x, const void* p) {
  u32* const word = reinterpret_cast<u32*>(&x);
  u32 begin = 0;
#ifdef __CUDA_ARCH__
  // Of a chunk that it knew to be aligned, the compiler would load three words by one of 16 bytes.
  asm("" : "+r"(begin));
#endif
  const u8* const bytes = reinterpret_cast<const u8*>(p) + begin;
#pragma unroll
  for (int i = 0; i < kBytes / 4; ++i) word[i] = reinterpret_cast<const u32*>(bytes)[i];
  if constexpr (kBytes % 4 != 0) {
    const u8* const rest = bytes + kBytes / 4 * 4;
    u32 bits = kBytes % 4 >= 2 ? *reinterpret_cast<const u16*>(rest) : *rest;
    if constexpr (kBytes % 4 == 3) bits |= u32(rest[2]) << 16;
    if constexpr (sizeof(Vector) >= 4)
      word[kBytes / 4] = bits;
    else
      *reinterpret_cast<u16*>(&x) = u16(bits);  // of two bytes, the first one
  }
}

// Loads the chunk's elements before `end`.
template <class T, class Vector>
TILE_DEVICE void load_before(Vector& x, const T* p, const T* end) {
#pragma unroll
  for (int i = 0; i < int(sizeof(Vector) / sizeof(T)); ++i) {
    if (p + i < end) reinterpret_cast<T*>(&x)[i] = p[i];
  }
}

// Loads the part of the chunk at `p` that lies before the tensor's end. Its last chunk has kTail
// elements if that is not 0, or any number if kTail is negative: tensors need not begin at an
// aligned address.
template <int kTail, class T, class Vector>
TILE_DEVICE void load_chunk(Vector& x, const T* p, const T* end) {
  if constexpr (kTail == 0) {
    if (p < end) x = *reinterpret_cast<const Vector*>(p);
  } else if (p + sizeof(Vector) / sizeof(T) <= end) {
    x = *reinterpret_cast<const Vector*>(p);
  } else if constexpr (kTail < 0) {
    load_before(x, p, end);
  } else if (p < end) {
    load_first<kTail* int(sizeof(T))>(x, p);
  }
}

// Loads the chunk that begins `at` elements after `begin`, or the tensor's last one, `last`
// elements after it, if that comes before.
template <int kTail, class T, class Vector>
TILE_DEVICE void load_chunk_or_last(Vector& x, const T* begin, i64 at, i64 last) {
  if constexpr (kTail == 0) {
    x = *reinterpret_cast<const Vector*>(begin + (at < last ? at : last));
  } else if (at < last) {
    x = *reinterpret_cast<const Vector*>(begin + at);
  } else {
    load_first<kTail* int(sizeof(T))>(x, begin + last);
  }
}

}  // namespace tile
