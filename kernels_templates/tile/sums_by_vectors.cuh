// From a warp's sums to the formula by whole vectors: through shared memory, panel by panel. Any
// formula and any layout of outputs can follow a product in this way.
#pragma once

#include "tile/sum_panel.cuh"

namespace tile {

// Work has kN, of a tile, kProducts, and Product; kPanel, kVector, kAlongM, kUnroll; Place and
// Vector. The panels of both products of a pair lie one behind the other.
template <class Work>
struct SumsByVectors {
  using Sum = typename Work::Product::C;
  using Panel = SumPanel<Sum, Work::kPanel, Work::kVector, Work::kAlongM>;
  static constexpr u32 kBytes = Work::kProducts * Panel::kBytes;  // of shared memory for a warp
  static constexpr int kPanels = (Work::kN + Work::kPanel - 1) / Work::kPanel;
  static constexpr bool kMayLoadAhead = false;
  struct Operands {};

  // The sums of kHeight instructions, one 64 rows below the other, from `first_row` of the tile on.
  template <class Params, class Tile, class Rows, int kHeight, int kCount>
  static TILE_DEVICE void finish(const Params& p, const Tile& tile, const Sum (&d)[kHeight][kCount],
                                 const Rows&, unsigned char* memory, i32 first_row, i32 lane) {
    constexpr int kUnroll = Work::kUnroll;
    Sum* const panel = reinterpret_cast<Sum*>(memory);
#pragma unroll 1
    for (int part = 0; part < kHeight * kPanels; ++part) {
#pragma unroll
      for (int i = 0; i < kHeight * kPanels; ++i) {  // the sums are registers
        if (part == i) {
#pragma unroll
          for (int q = 0; q < Work::kProducts; ++q) {
            Panel::put(panel + q * (Panel::kBytes / sizeof(Sum)), d[i / kPanels],
                       q * (kCount / Work::kProducts) + i % kPanels * Work::kPanel / 2, lane);
          }
        }
      }
      __syncwarp();
      const i32 row = first_row + part / kPanels * 64, column = part % kPanels * Work::kPanel;
#pragma unroll 1
      for (int i = lane; i < Panel::kVectors; i += 32 * kUnroll) {
        typename Work::Vector vector[kUnroll];
#pragma unroll
        for (int j = 0; j < kUnroll; ++j) {
          const auto at = place(tile, row, column, i + 32 * j);
          if (exists(p, at, column, i + 32 * j)) vector[j].load(p, at);
        }
#pragma unroll
        for (int j = 0; j < kUnroll; ++j) {
          const auto at = place(tile, row, column, i + 32 * j);
          if (exists(p, at, column, i + 32 * j)) {
            vector[j].map(p, at, panel + Panel::index_of(i + 32 * j));
          }
        }
      }
      __syncwarp();
    }
  }

 private:
  template <class Tile>
  static TILE_DEVICE typename Work::Place place(const Tile& tile, i32 row, i32 column, i32 number) {
    return {tile, row + Panel::row_of(number), column + Panel::column_of(number)};
  }
  template <class Params>
  static TILE_DEVICE bool exists(const Params& p, const typename Work::Place& at, i32 column,
                                 i32 number) {
    const bool in_tile =
        Work::kN % Work::kPanel == 0 || column + Panel::column_of(number) < Work::kN;
    return in_tile && number < Panel::kVectors && at.exists(p);
  }
};

}  // namespace tile
