// Contiguous elements of one or two bytes, several per word. A wide access remains one access, and
// conversions process a word at a time.
#pragma once

#include "tile/bits.cuh"
#include "tile/types.cuh"

namespace tile {

// The unsigned integer with that many bytes.
template <int kBytes>
struct SizedWord {
  using type = u32;
};
template <>
struct SizedWord<2> {
  using type = u16;
};
template <>
struct SizedWord<1> {
  using type = u8;
};

// Conversions between a word of storage and its compute values. Types with instructions for pairs
// specialise these.
template <class T, class Word, class Value>
TILE_DEVICE void unpack_word(Word word, Value* x) {
#pragma unroll
  for (int i = 0; i < int(sizeof(Word) / sizeof(T)); ++i) {
    T element;
    assign_bits(element, word >> (8 * int(sizeof(T)) * i));
    x[i] = to_compute(element);
  }
}
template <class T, class Word, class Value>
TILE_DEVICE void pack_word(Word& word, const Value* x) {
  word = 0;
#pragma unroll
  for (int i = 0; i < int(sizeof(Word) / sizeof(T)); ++i) {
    word |= Word(bits_of(store_as<T>(x[i])) << (8 * int(sizeof(T)) * i));
  }
}

// The elementwise maximum or minimum of two words with two values each; nan is ignored.
template <class T>
TILE_DEVICE u32 max_words(u32 a, u32 b) {
  float x[2], y[2];
  unpack_word<T>(a, x);
  unpack_word<T>(b, y);
  const float z[2] = {fmaxf(x[0], y[0]), fmaxf(x[1], y[1])};
  pack_word<T>(a, z);
  return a;
}
template <class T>
TILE_DEVICE u32 min_words(u32 a, u32 b) {
  float x[2], y[2];
  unpack_word<T>(a, x);
  unpack_word<T>(b, y);
  const float z[2] = {fminf(x[0], y[0]), fminf(x[1], y[1])};
  pack_word<T>(a, z);
  return a;
}

template <class T, int kCount>
struct alignas(sizeof(T) * kCount < 16 ? sizeof(T) * kCount : 16) Packed {
  using Word = typename SizedWord<int(sizeof(T)) * kCount>::type;
  enum : int { kPerWord = int(sizeof(Word) / sizeof(T)) };

  Word word[kCount / kPerWord];

  TILE_DEVICE void load(const T* p) { *this = *reinterpret_cast<const Packed*>(p); }
  TILE_DEVICE void store(T* p) const { *reinterpret_cast<Packed*>(p) = *this; }

  // At the ragged end of a row, only `valid` elements exist.
  TILE_DEVICE void load(const T* p, int valid) {
    if (valid == kCount) return load(p);
#pragma unroll
    for (int w = 0; w < kCount / kPerWord; ++w) word[w] = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (i < valid) word[i / kPerWord] |= Word(bits_of(p[i]) << shift(i));
    }
  }
  // The same if not all exist, though one or more do: no load waits for another.
  TILE_DEVICE void load_end(const T* p, int valid) {
#pragma unroll
    for (int w = 0; w < kCount / kPerWord; ++w) word[w] = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      word[i / kPerWord] |= Word((i < valid ? u32(bits_of(p[i])) : 0) << shift(i));
  }
  TILE_DEVICE void store(T* p, int valid) const {
    if (valid == kCount) return store(p);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (i < valid) assign_bits(p[i], word[i / kPerWord] >> shift(i));
    }
  }

  // The position of element i in its word, in bits.
  static TILE_DEVICE int shift(int i) {
    return 8 * int(sizeof(T)) * (i % kPerWord);
  }
};

}  // namespace tile
