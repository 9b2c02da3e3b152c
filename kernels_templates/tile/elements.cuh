// Single elements of vectors, for the ends of rows.
#pragma once

#include "tile/bits.cuh"
#include "tile/types.cuh"

namespace tile {

template <class T, int kCount>
struct Contiguous;
template <class T, int kCount>
struct Packed;

template <class T, int kCount>
TILE_DEVICE void load_element(Contiguous<T, kCount>& x, const T* p, int i) {
  x.element[i] = p[i];
}
template <class T, int kCount>
TILE_DEVICE void load_element(Packed<T, kCount>& x, const T* p, int i) {
  using Vector = Packed<T, kCount>;
  using Word = typename Vector::Word;
  Word& word = x.word[i / Vector::kPerWord];
  const Word bits = Word(Word(bits_of(p[i])) << Vector::shift(i));
  word = i % Vector::kPerWord == 0 ? bits : Word(word | bits);  // elements come in order
}
template <class T, int kCount>
TILE_DEVICE void store_element(const Contiguous<T, kCount>& x, T* p, int i) {
  p[i] = x.element[i];
}
template <class T, int kCount>
TILE_DEVICE void store_element(const Packed<T, kCount>& x, T* p, int i) {
  using Vector = Packed<T, kCount>;
  assign_bits(p[i], x.word[i / Vector::kPerWord] >> Vector::shift(i));
}

// Loads the elements i for which bit i of `exists` is set, all at once. The other elements get the
// value of the first of them.
template <template <class, int> class Vector, class T, int kCount>
TILE_DEVICE void load_existing(Vector<T, kCount>& x, const T* p, u32 exists) {
  if (exists == 0) return;
  const int first = __ffs(int(exists)) - 1;
#pragma unroll
  for (int i = 0; i < kCount; ++i) load_element(x, p + (exists >> i & 1 ? 0 : first - i), i);
}

}  // namespace tile
