// Wide stores by instruction. If addresses are computed from a tile's, the compiler does not always
// recognise that the words of a vector are neighbours, and stores them one by one.
#pragma once

#include "tile/types.cuh"

namespace tile {

// For vectors whose size is 8 bytes or a multiple of 16 bytes; smaller ones are stored as they are.
template <class T, class Vector>
TILE_DEVICE void store_wide(T* p, const Vector& x) {
  const u32* word = reinterpret_cast<const u32*>(&x);
  if constexpr (sizeof(Vector) % 16 == 0) {
#pragma unroll
    for (int i = 0; i < int(sizeof(Vector) / 4); i += 4) {
      asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};"
                   :
                   : "l"(reinterpret_cast<char*>(p) + 4 * i), "r"(word[i]), "r"(word[i + 1]),
                     "r"(word[i + 2]), "r"(word[i + 3])
                   : "memory");
    }
  } else if constexpr (sizeof(Vector) == 8) {
    asm volatile("st.global.v2.b32 [%0], {%1, %2};"
                 :
                 : "l"(p), "r"(word[0]), "r"(word[1])
                 : "memory");
  } else {
    x.store(p);
  }
}

template <class T, class Vector>
TILE_DEVICE void store_wide(T* p, const Vector& x, int valid) {
  if (valid == int(sizeof(Vector) / sizeof(T))) return store_wide(p, x);
  x.store(p, valid);
}

}  // namespace tile
