// One thread's part of a tensor along the innermost mode: kVector neighbours, read and written with
// the widest accesses that the layout allows.
#pragma once

#include "tile/types.cuh"

// Unit stride: accesses of up to 16 bytes. `valid` elements exist; fewer than kCount only at the
// ragged end of a row. The base is aligned to the smaller of 16 bytes and the fragment.
template <class T, int kCount>
struct Contiguous {
  static constexpr int kBytes = int(sizeof(T)) * kCount;
  static constexpr int kAlign = kBytes < 16 ? kBytes : 16;
  // Words rather than elements, so that one wide access remains one.
  using Word = typename SizedWord<(kBytes < 4 ? kBytes : 4)>::type;
  static constexpr int kWords = kBytes / int(sizeof(Word));
  static constexpr int kPerWord = sizeof(T) < sizeof(Word) ? int(sizeof(Word) / sizeof(T)) : 1;
  struct alignas(kAlign) Words {
    Word w[kWords];
  };

  Words words;

  TILE_DEVICE T get(int i) const {
    T x;
    if constexpr (sizeof(T) <= sizeof(Word)) {
      const auto bits = typename SizedWord<sizeof(T)>::type(
          words.w[i / kPerWord] >> (8 * int(sizeof(T)) * (i % kPerWord)));
      __builtin_memcpy(&x, &bits, sizeof(T));
    } else {
      const u64 bits = u64(words.w[2 * i + 1]) << 32 | words.w[2 * i];
      __builtin_memcpy(&x, &bits, sizeof(T));
    }
    return x;
  }
  // Elements are set in order; the first of a word clears the rest of it.
  TILE_DEVICE void set(int i, T x) {
    typename SizedWord<sizeof(T)>::type bits;
    __builtin_memcpy(&bits, &x, sizeof(T));
    if constexpr (sizeof(T) <= sizeof(Word)) {
      const Word shifted = Word(Word(bits) << (8 * int(sizeof(T)) * (i % kPerWord)));
      words.w[i / kPerWord] = i % kPerWord == 0 ? shifted : Word(words.w[i / kPerWord] | shifted);
    } else {
      words.w[2 * i] = Word(bits);
      words.w[2 * i + 1] = Word(bits >> 32);
    }
  }
  TILE_DEVICE void load(const T* p, i64, int valid) {
    if (valid >= kCount) {
      words = *reinterpret_cast<const Words*>(p);
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) set(i, i < valid ? p[i] : T{});
    }
  }
  TILE_DEVICE void store(T* p, i64, int valid) const {
    if (valid >= kCount) {
      *reinterpret_cast<Words*>(p) = words;
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        if (i < valid) p[i] = get(i);
      }
    }
  }
};

// Stride 0: one element stands for all.
template <class T, int kCount>
struct Broadcast {
  T value;

  TILE_DEVICE T get(int) const { return value; }
  TILE_DEVICE void load(const T* p, i64, int) { value = *p; }
};

// Any other stride, in elements: one access an element.
template <class T, int kCount>
struct Strided {
  T value[kCount];

  TILE_DEVICE T get(int i) const { return value[i]; }
  TILE_DEVICE void set(int i, T x) { value[i] = x; }
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
