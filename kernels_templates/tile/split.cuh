// Contiguous elements whose address is aligned to fewer bytes than the vector has: kAccess elements
// per access.
#pragma once

#include "tile/types.cuh"

namespace tile {

template <class T, int kCount>
struct Contiguous;
template <class T, int kCount>
struct Packed;

template <int kAccess, class T, int kCount>
TILE_DEVICE void load_split(Contiguous<T, kCount>& x, const T* p, int valid) {
  using Piece = Contiguous<T, kAccess>;
#pragma unroll
  for (int i = 0; i < kCount; i += kAccess) {
    Piece piece;
    piece.load(p + i, valid - i < kAccess ? valid - i : kAccess);
#pragma unroll
    for (int j = 0; j < kAccess; ++j) x.element[i + j] = piece.element[j];
  }
}

template <int kAccess, class T, int kCount>
TILE_DEVICE void load_split(Packed<T, kCount>& x, const T* p, int valid) {
  using Vector = Packed<T, kCount>;
  using Piece = Packed<T, kAccess>;
#pragma unroll
  for (int i = 0; i < kCount; i += kAccess) {
    Piece piece;
    piece.load(p + i, valid - i < kAccess ? valid - i : kAccess);
#pragma unroll
    for (int w = 0; w < kAccess / Piece::kPerWord; ++w) {
      const int at = i + w * Piece::kPerWord, shift = Vector::shift(at);
      auto& word = x.word[at / Vector::kPerWord];
      word = shift == 0 ? piece.word[w] : word | typename Vector::Word(piece.word[w]) << shift;
    }
  }
}

}  // namespace tile
