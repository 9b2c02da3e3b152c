// Transposes squares of kCount x kCount elements that a thread has in registers: kCount vectors of
// kCount elements.
#pragma once

#include "tile/types.cuh"

namespace tile {

template <class T, int kCount>
struct Contiguous;
template <class T, int kCount>
struct Packed;

// Element by element.
template <class T, int kCount>
TILE_DEVICE void transpose(Contiguous<T, kCount> (&row)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
#pragma unroll
    for (int j = 0; j < i; ++j) {
      const T swapped = row[i].element[j];
      row[i].element[j] = row[j].element[i];
      row[j].element[i] = swapped;
    }
  }
}

// The same for words of two elements: transposes in squares of 2 x 2 elements, two words each.
template <class T, int kCount>
TILE_DEVICE void transpose_pairs(Packed<T, kCount> (&row)[kCount]) {
  Packed<T, kCount> out[kCount];
#pragma unroll
  for (int i = 0; i < kCount; i += 2) {
#pragma unroll
    for (int j = 0; j < kCount; j += 2) {
      const u32 upper = row[j].word[i / 2], lower = row[j + 1].word[i / 2];
      out[i].word[j / 2] = __byte_perm(upper, lower, 0x5410);
      out[i + 1].word[j / 2] = __byte_perm(upper, lower, 0x7632);
    }
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) row[i] = out[i];
}

// The same for words of four elements: squares of 4 x 4 elements, four words each, by way of pairs.
template <class T, int kCount>
TILE_DEVICE void transpose_quads(Packed<T, kCount> (&row)[kCount]) {
  Packed<T, kCount> out[kCount];
#pragma unroll
  for (int i = 0; i < kCount; i += 4) {
#pragma unroll
    for (int j = 0; j < kCount; j += 4) {
      const u32 a = row[j].word[i / 4], b = row[j + 1].word[i / 4];
      const u32 c = row[j + 2].word[i / 4], d = row[j + 3].word[i / 4];
      const u32 ab_low = __byte_perm(a, b, 0x5140), ab_high = __byte_perm(a, b, 0x7362);
      const u32 cd_low = __byte_perm(c, d, 0x5140), cd_high = __byte_perm(c, d, 0x7362);
      out[i].word[j / 4] = __byte_perm(ab_low, cd_low, 0x5410);
      out[i + 1].word[j / 4] = __byte_perm(ab_low, cd_low, 0x7632);
      out[i + 2].word[j / 4] = __byte_perm(ab_high, cd_high, 0x5410);
      out[i + 3].word[j / 4] = __byte_perm(ab_high, cd_high, 0x7632);
    }
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) row[i] = out[i];
}

template <class T, int kCount>
TILE_DEVICE void transpose(Packed<T, kCount> (&row)[kCount]) {
  if constexpr (sizeof(T) == 2) {
    transpose_pairs(row);
  } else if constexpr (kCount >= 4) {
    transpose_quads(row);
  } else {  // two bytes per row
    const u32 both = u32(row[0].word[0]) | u32(row[1].word[0]) << 16;
    const u32 swapped = __byte_perm(both, 0, 0x3120);
    row[0].word[0] = u16(swapped);
    row[1].word[0] = u16(swapped >> 16);
  }
}

}  // namespace tile
