#pragma once

#include "tile/matrix_rows.cuh"

namespace tile {

template <int kMatrices, bool kTransposed = false>
void load_matrices(u32 (&r)[kMatrices], u32 row) {
  emulation::load_matrices<kMatrices, kTransposed>(r, row);
}
template <int kMatrices, bool kTransposed = false>
void store_matrices(u32 row, const u32 (&r)[kMatrices]) {
  emulation::store_matrices<kMatrices, kTransposed>(row, r);
}

}  // namespace tile
