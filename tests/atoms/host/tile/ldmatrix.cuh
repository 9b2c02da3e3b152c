// tile/ldmatrix.cuh for the CPU: the lanes of a warp exchange the addresses of rows.
#pragma once

#include <array>
#include <cstring>

#include "emulation/device.hpp"
#include "tile/barrier.cuh"
#include "tile/matrix_rows.cuh"

namespace tile {

template <int kMatrices, bool kTransposed = false>
void load_matrices(u32 (&r)[kMatrices], u32 row) {
  static std::array<u32, 1024> rows;
  emulation::Cluster& cluster = *emulation::Cluster::running;
  const std::size_t thread = cluster.current(), first = thread / 32 * 32, lane = thread % 32;
  rows[thread] = row;
  cluster.meet_warp();
  for (std::size_t j = 0; j < kMatrices; ++j) {
    std::array<u16, 2> pair;
    for (std::size_t i = 0; i < 2; ++i) {
      const std::size_t along = lane % 4 * 2 + i, across = lane / 4;
      const std::size_t of_row = kTransposed ? along : across,
                        column = kTransposed ? across : along;
      std::memcpy(&pair[i], memory + rows[first + 8 * j + of_row] + 2 * column, 2);
    }
    std::memcpy(&r[j], pair.data(), 4);
  }
  cluster.meet_warp();
}

}  // namespace tile
