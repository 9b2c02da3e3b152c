// One thread's part of a tensor along the innermost mode: kCount neighbours, read and written with
// the widest accesses that the layout allows, and their conversion to and from compute types.
#pragma once

#include "tile/types.cuh"

// Unit stride: accesses of up to 16 bytes, so the base is aligned to the smaller of that and the
// fragment. At the ragged end of a row only `valid` elements exist.
template <class T, int kCount>
struct Contiguous {
  static constexpr int kBytes = int(sizeof(T)) * kCount;
  static constexpr int kWordBytes = sizeof(T) == 8 ? 8 : (kBytes < 4 ? kBytes : 4);
  static constexpr int kPerWord = kWordBytes / int(sizeof(T));
  static constexpr int kWords = kCount / kPerWord;
  // Words rather than elements, so that one wide access remains one.
  using Word = typename SizedWord<kWordBytes>::type;
  struct alignas(kBytes < 16 ? kBytes : 16) Words {
    Word w[kWords];
  };

  Words words;

  template <class Value>
  TILE_DEVICE void unpack(Value (&x)[kCount]) const {
#pragma unroll
    for (int w = 0; w < kWords; ++w) unpack_word(T{}, words.w[w], x + w * kPerWord);
  }
  template <class Value>
  TILE_DEVICE void pack(const Value (&x)[kCount]) {
#pragma unroll
    for (int w = 0; w < kWords; ++w) pack_word(T{}, words.w[w], x + w * kPerWord);
  }
  TILE_DEVICE void load(const T* p) { words = *reinterpret_cast<const Words*>(p); }
  TILE_DEVICE void load(const T* p, int valid) {
    if (valid == kCount) return load(p);
#pragma unroll
    for (int w = 0; w < kWords; ++w) words.w[w] = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (i < valid) words.w[i / kPerWord] |= Word(Word(bits_of(p[i])) << shift(i));
    }
  }
  TILE_DEVICE void store(T* p) const { *reinterpret_cast<Words*>(p) = words; }
  TILE_DEVICE void store(T* p, int valid) const {
    if (valid == kCount) return store(p);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (i < valid) assign_bits(p[i], words.w[i / kPerWord] >> shift(i));
    }
  }

 private:
  static TILE_DEVICE int shift(int i) { return 8 * int(sizeof(T)) * (i % kPerWord); }
};

// Stride 0: one element stands for all.
template <class T>
struct Broadcast {
  T value;

  TILE_DEVICE void load(const T* p) { value = *p; }
  template <class Value>
  TILE_DEVICE void unpack(Value& x) const {
    x = to_compute(value);
  }
};

// Any other stride, in elements: one access an element.
template <class T, int kCount>
struct Strided {
  T value[kCount];

  template <class Value>
  TILE_DEVICE void unpack(Value (&x)[kCount]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) x[i] = to_compute(value[i]);
  }
  template <class Value>
  TILE_DEVICE void pack(const Value (&x)[kCount]) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) value[i] = store_as<T>(x[i]);
  }
  TILE_DEVICE void load(const T* p, i64 stride, int valid) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (i < valid) value[i] = p[i * stride];
    }
  }
  TILE_DEVICE void store(T* p, i64 stride, int valid) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (i < valid) p[i * stride] = value[i];
    }
  }
};
