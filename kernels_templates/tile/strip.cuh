// Strips of a row that overlap, so that no sector of memory is written in parts by two of them.
// Rows of odd length cut the sectors at both ends of every strip, and memory is read again to
// complete each part that arrives alone. A strip has kElements elements of a row, of which the next
// one has the last kShared, too: a sector's or more. Each sector that lies across the end of a
// strip is stored whole by the next one.
#pragma once

#include "tile/elements.cuh"
#include "tile/types.cuh"
#include "tile/wide.cuh"

namespace tile {

enum : u32 { kSectorBytes = 32 };

// The bytes that a strip stores, counted from an address in it. They begin and end where sectors
// do, but at the ends of a row.
struct Window {
  enum : bool { kHasAll = false };
  i32 from, to;
  TILE_DEVICE bool has(i32 first, i32 bytes) const { return first >= from && first + bytes <= to; }
  // Of elements of `size` bytes from number i on, or before it, those that the strip stores.
  TILE_DEVICE int first_of(int i, int size) const {
    return i * size >= from ? i : (from + size - 1) / size;
  }
  TILE_DEVICE int end_of(int i, int size) const { return i * size <= to ? i : to / size; }
};

// Element `at` of a strip, which may be the first or the last of its row.
template <int kElements, int kShared>
struct PlaceInStrip {
  i32 at;
  bool first, last;

  // `p`: the element's address.
  template <class T>
  TILE_DEVICE Window window(const T* p) const {
    constexpr i32 kEndless = 1 << 30;
    const i32 within = i32(u32(reinterpret_cast<u64>(p)) % kSectorBytes);
    const auto sector = [&](i32 element) {  // the beginning of its sector
      const i32 byte = within + (element - at) * i32(sizeof(T));
      return (byte & -i32(kSectorBytes)) - within;
    };
    return {first ? -kEndless : sector(kShared), last ? kEndless : sector(kElements)};
  }
};

// Stores those of a vector's first `valid` elements that are the strip's.
template <class T, class Vector, class Place>
TILE_DEVICE void store_in_strip(T* p, const Vector& x, int valid, const Place& place) {
  constexpr int kCount = int(sizeof(Vector) / sizeof(T));
  const Window window = place.window(p);
  if (valid == kCount && window.has(0, int(sizeof(Vector)))) return store_wide(p, x);
  if constexpr (kCount > 1) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (i < valid && window.has(i * int(sizeof(T)), int(sizeof(T)))) store_element(x, p, i);
    }
  }
}

}  // namespace tile
