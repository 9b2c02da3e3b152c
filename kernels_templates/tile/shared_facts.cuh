// What constant layouts of shared tiles say of themselves, at compile time. A layout is a type that
// layout::emit_callable writes with 32 bits: Layout()(row, column) is an index in elements. Looked
// at are steps by powers of two, so that the modes of a tile have to be powers of two, or one
// stride each; swizzles are fine.
#pragma once

#include "tile/types.cuh"

namespace tile {

enum class Along { rows, columns };

template <class Layout, Along kAlong>
TILE_DEVICE constexpr i32 place_along(int along, int across) {
  return kAlong == Along::rows ? Layout()(along, across) : Layout()(across, along);
}

// Whether `count` neighbours, from a multiple of `count` on, lie side by side, and begin at a
// multiple of `count` elements. The tile has `extent` elements along, and `others` across.
template <class Layout, Along kAlong>
TILE_DEVICE constexpr bool has_runs(int extent, int others, int count) {
  if (extent % count != 0) return false;
  for (int other = 0; other < others; other = other == 0 ? 1 : 2 * other) {
    for (int first = 0; first < extent; first = first == 0 ? count : 2 * first) {
      const i32 at = place_along<Layout, kAlong>(first, other);
      if (at % count != 0) return false;
      for (int i = 1; i < count; ++i) {
        if (place_along<Layout, kAlong>(first + i, other) != at + i) return false;
      }
    }
  }
  return true;
}

// Whether elements that are a multiple of `step` apart lie evenly, whatever lies between them.
template <class Layout, Along kAlong>
TILE_DEVICE constexpr bool is_even(int extent, int others, int step) {
  const i32 far = place_along<Layout, kAlong>(step, 0) - place_along<Layout, kAlong>(0, 0);
  for (int by = step; by < extent; by *= 2) {
    for (int other = 0; other < others; other = other == 0 ? 1 : 2 * other) {
      for (int first = 0; first + by < extent; first = first == 0 ? 1 : 2 * first) {
        if ((first & by) == 0 && place_along<Layout, kAlong>(first + by, other) -
                                         place_along<Layout, kAlong>(first, other) !=
                                     by / step * far) {
          return false;
        }
      }
    }
  }
  return true;
}
// The least such step from `step` on, at most the extent.
template <class Layout, Along kAlong>
TILE_DEVICE constexpr int even_step(int extent, int others, int step) {
  while (step < extent && !is_even<Layout, kAlong>(extent, others, step)) step *= 2;
  return step < extent ? step : extent;
}
// How far apart these lie, in elements; 0 if the tile ends there.
template <class Layout, Along kAlong>
TILE_DEVICE constexpr i32 distance(int extent, int step) {
  if (step >= extent) return 0;
  return place_along<Layout, kAlong>(step, 0) - place_along<Layout, kAlong>(0, 0);
}

}  // namespace tile
