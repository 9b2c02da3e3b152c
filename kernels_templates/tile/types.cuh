// Integers, f32 and f64, whose storage is their compute type. The other storage types have a header
// each: b8.cuh, f16.cuh, bf16.cuh, f8.cuh, tf32.cuh; a kernel includes those that it uses, since
// every line here is parsed in every compile. No header of the toolkit is included anywhere.
#pragma once

using i8 = signed char;
using i16 = short;
using i32 = int;
using i64 = long long;
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using f32 = float;
using f64 = double;

#define TILE_DEVICE __device__ __forceinline__

// The unsigned integer of that many bytes.
template <int kBytes>
struct SizedWord;
template <>
struct SizedWord<1> {
  using type = u8;
};
template <>
struct SizedWord<2> {
  using type = u16;
};
template <>
struct SizedWord<4> {
  using type = u32;
};
template <>
struct SizedWord<8> {
  using type = u64;
};

// Every storage type has these four: its bits in the low end of a word, both ways; the exact value
// in its compute type; and the value rounded to it, once, to nearest even unless noted.
template <class T>
TILE_DEVICE void assign_bits(T& x, u64 bits) {
  x = T(bits);
}
TILE_DEVICE void assign_bits(float& x, u32 bits) { x = __uint_as_float(bits); }
TILE_DEVICE void assign_bits(double& x, u64 bits) { x = __longlong_as_double(i64(bits)); }

template <class T>
TILE_DEVICE auto bits_of(T x) {
  return typename SizedWord<int(sizeof(T))>::type(x);
}
TILE_DEVICE u32 bits_of(float x) { return __float_as_uint(x); }
TILE_DEVICE u64 bits_of(double x) { return u64(__double_as_longlong(x)); }

template <class T>
TILE_DEVICE T to_compute(T x) {
  return x;
}
template <class Storage, class Value>
TILE_DEVICE Storage store_as(Value x) {
  return x;
}

// The value that a store would leave behind.
template <class Storage>
TILE_DEVICE float round_to(float x) {
  return to_compute(store_as<Storage>(x));
}

// One word of storage <-> the compute values in it. Types that an instruction takes in pairs
// overload these; the first parameter names the type.
template <class T, class Word, class Value>
TILE_DEVICE void unpack_word(T, Word word, Value* x) {
#pragma unroll
  for (int i = 0; i < int(sizeof(Word) / sizeof(T)); ++i) {
    T element;
    assign_bits(element, word >> (8 * int(sizeof(T)) * i));
    x[i] = to_compute(element);
  }
}
template <class T, class Word, class Value>
TILE_DEVICE void pack_word(T, Word& word, const Value* x) {
  word = 0;
#pragma unroll
  for (int i = 0; i < int(sizeof(Word) / sizeof(T)); ++i) {
    word |= Word(Word(bits_of(store_as<T>(x[i]))) << (8 * int(sizeof(T)) * i));
  }
}
