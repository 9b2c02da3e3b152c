// Contiguous elements whose address is aligned to fewer bytes than the vector has: kAccess elements
// per access.
#pragma once

#include "tile/types.cuh"

namespace tile {

template <class T, int kCount>
struct Contiguous;
template <class T, int kCount>
struct Packed;

// Piece i of a vector.
template <int kAccess, class T, int kCount>
TILE_DEVICE void set_piece(Contiguous<T, kCount>& x, int i, const Contiguous<T, kAccess>& piece) {
#pragma unroll
  for (int j = 0; j < kAccess; ++j) x.element[i * kAccess + j] = piece.element[j];
}
template <int kAccess, class T, int kCount>
TILE_DEVICE void set_piece(Packed<T, kCount>& x, int i, const Packed<T, kAccess>& piece) {
  using Vector = Packed<T, kCount>;
  using Piece = Packed<T, kAccess>;
#pragma unroll
  for (int w = 0; w < kAccess / Piece::kPerWord; ++w) {
    const int at = i * kAccess + w * Piece::kPerWord, shift = Vector::shift(at);
    auto& word = x.word[at / Vector::kPerWord];
    word = shift == 0 ? piece.word[w] : word | typename Vector::Word(piece.word[w]) << shift;
  }
}

template <int kAccess, template <class, int> class Form, class T, int kCount>
TILE_DEVICE void load_split(Form<T, kCount>& x, const T* p, int valid) {
#pragma unroll
  for (int i = 0; i < kCount; i += kAccess) {
    Form<T, kAccess> piece;
    piece.load(p + i, valid - i < kAccess ? valid - i : kAccess);
    set_piece<kAccess>(x, i / kAccess, piece);
  }
}

}  // namespace tile
