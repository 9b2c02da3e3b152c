// Tiles in shared memory. Operands that are contiguous along a mode other than the kernel's vectors
// pass through them. Registers transpose squares of elements on the way, so that global and shared
// memory are both accessed in whole vectors.
#pragma once

#include "tile/transpose.cuh"

namespace tile {

// Vectors of kCount elements. Layout()(column, row) is the place of the vector in a column of
// vectors and a row of elements (layout::emit_callable). The lines of a square are kCount rows,
// from a multiple of kCount on; the layout places them kPitch vectors apart.
template <class Vector, int kCount, class Layout>
struct SharedTile {
  static constexpr i32 kPitch = Layout()(0, 1) - Layout()(0, 0);
  static_assert(Layout()(1, 2 * kCount - 1) == Layout()(1, kCount) + (kCount - 1) * kPitch, "");

  Vector vector[Layout::cosize];

  TILE_DEVICE Vector& at(int row, int column) { return vector[Layout()(column, row)]; }
  template <class T>
  TILE_DEVICE T& element(int row, int column) {
    return reinterpret_cast<T*>(&at(row, column / kCount))[column % kCount];
  }

  // The square in a column of vectors and a row of squares. In registers, it is transposed.
  TILE_DEVICE void put_square(int row, int column, Vector (&square)[kCount]) {
    transpose(square);
    Vector* const first = &at(row * kCount, column);
#pragma unroll
    for (int i = 0; i < kCount; ++i) first[i * kPitch] = square[i];
  }
  TILE_DEVICE void get_square(int row, int column, Vector (&square)[kCount]) {
    const Vector* const first = &at(row * kCount, column);
#pragma unroll
    for (int i = 0; i < kCount; ++i) square[i] = first[i * kPitch];
    transpose(square);
  }
};

}  // namespace tile
