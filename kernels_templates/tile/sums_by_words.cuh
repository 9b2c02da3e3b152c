// From a warp's sums to the formula as they lie in registers, by pairs of neighbours along n, for
// outputs of 16 bits. Only results go through shared memory, so that they are stored 16 bytes at a
// time.
#pragma once

#include "tile/barrier.cuh"
#include "tile/ldmatrix.cuh"
#include "tile/panel_along_m.cuh"
#include "tile/pin.cuh"
#include "tile/row_reductions.cuh"

namespace tile {

// Work has kN, of a tile, kProducts, and Product; kOutputs, kTurns; kWeight, of the formula's code;
// kAlongM if the 8 neighbours that are stored lie along m, and kPanelTogether if all warps of a
// warpgroup then have sums; kAlike if the formula's operands are alike in all rows; Place; and
//   Vector   the formula's operands for a pair: load(p, at), and map(p, at, sums, words) for a word
//            of each output; sums are a pair of each product, and if kStatistic there is a row's
//            before `words`
//   Stored   store<kOutput>(p, at, words): 8 neighbours
// If there are kReductions (tile/row_reductions.cuh), Vector has reduce(p, at, sums, all), which
// adds a pair to what is reduced along n; and kOutputs may be 0.
template <class Work>
struct SumsByWords {
  using Sum = typename Work::Product::C;
  static constexpr int kPanel = 64, kWords = 32 * kPanel / 64;  // columns; sums of a thread
  static constexpr int kPanels = (Work::kN + kPanel - 1) / kPanel;
  static constexpr u32 kPanelBytes = 16 * kPanel * 2;
  static constexpr u32 kBytes = Work::kTurns * Work::kOutputs * kPanelBytes;  // of a warp
  static constexpr bool kAlongM = Work::kAlongM, kTogether = Work::kPanelTogether;
  static constexpr int kOutputs = Work::kOutputs > 0 ? Work::kOutputs : 1;
  using Reductions = RowReductions<Work>;
  static constexpr bool kMayLoadAhead = true;

  // The formula's operands for a panel, all of which are on their way before the first one is used.
  struct Operands {
    static constexpr int kRows = Work::kAlike ? 1 : 2;
    typename Work::Vector vector[kPanel / 8][kRows];

    template <class Params, class Tile>
    TILE_DEVICE void load(const Params& p, const Tile& tile, i32 row, i32 column, i32 lane) {
#pragma unroll
      for (int n = 0; n < kPanel / 8; ++n) {
#pragma unroll
        for (int below = 0; below < kRows; ++below) {
          const auto at = place(tile, row, column, lane, n, below);
          const bool exists = Work::kAlike ? at.is_in_row(p) : at.exists(p);
          if (is_inside(column + 8 * n) && exists) vector[n][below].load(p, at);
        }
      }
    }
  };
  using AlongM = PanelAlongM<kTogether ? 4 : 1>;
  static constexpr u32 kOfOutput = kTogether ? 4 * kPanelBytes : kPanelBytes;
  static constexpr u32 kOfTurn = Work::kOutputs * kOfOutput;

  template <class Params, class Tile, class Rows, int kHeight, int kCount>
  static TILE_DEVICE void finish(const Params& p, const Tile& tile, const Sum (&d)[kHeight][kCount],
                                 const Rows& rows, unsigned char* memory, i32 first_row, i32 lane) {
    Operands operands;
    finish_with<false>(p, tile, d, rows, operands, memory, first_row, lane);
  }

  // kAhead: operands are those of the first panel, and the others are loaded a panel ahead.
  template <bool kAhead, class Params, class Tile, class Rows, int kHeight, int kCount>
  static TILE_DEVICE void finish_with(const Params& p, const Tile& tile,
                                      const Sum (&d)[kHeight][kCount], const Rows& rows,
                                      Operands& operands, unsigned char* memory, i32 first_row,
                                      i32 lane) {
    const u32 start = shared_address(memory) - (kTogether ? AlongM::warp() * kBytes : 0);
    constexpr int kOfOne = kCount / Work::kProducts;
    constexpr int kParts = kHeight * kPanels;
    // One copy of a long formula's code instead of one for each panel. Beside the sums of a pair, a
    // copy of a panel's would leave too few registers for operands.
    constexpr bool kRolled =
        Work::kWeight > (kAhead ? 24 : 12) && (Work::kProducts == 1 || Work::kAlike);
    const auto load = [&](Operands& to, int part) {
      to.load(p, tile, first_row + part / kPanels * 64, part % kPanels * kPanel, lane);
    };
    Reductions reduced;
    // Of each panel: what is loaded before its results are computed, and what is done after.
    const auto begin = [&](Operands& next, int part) {
      if (part % kPanels == 0) reduced.start();
      if constexpr (!kAhead) {
        load(operands, part);
      } else if (part + 1 < kParts) {
        load(next, part + 1);
      }
    };
    const auto end = [&](const Operands& next, int part) {
      if (part % kPanels == kPanels - 1)
        reduced.finish(p, tile, first_row + part / kPanels * 64, lane);
      if (kAhead && part + 1 < kParts) operands = next;
    };
    if constexpr (kRolled) {
      // Each panel's sums go to the same registers.
#pragma unroll 1
      for (int part = 0; part < kParts; ++part) {
        Operands next;
        begin(next, part);
        Sum sums[Work::kProducts * kWords];
        float own[2];  // of the rows
#pragma unroll
        for (int i = 0; i < kParts; ++i) {
          if (part == i) {
            own[0] = rows.of(i / kPanels, 0);
            own[1] = rows.of(i / kPanels, 1);
#pragma unroll
            for (int j = 0; j < Work::kProducts * kWords; ++j) {
              const int of = i % kPanels * kWords + j % kWords;
              sums[j] = d[i / kPanels][j / kWords * kOfOne + (of < kOfOne ? of : kOfOne - 1)];
            }
            pin(sums);  // a branch, instead of a select of each sum for every panel
          }
        }
        finish_panel<kWords>(p, tile, sums, own, operands, reduced, 0,
                             start + part % Work::kTurns * kOfTurn, first_row + part / kPanels * 64,
                             part % kPanels * kPanel, lane);
        end(next, part);
      }
    } else {
#pragma unroll
      for (int part = 0; part < kParts; ++part) {
        Operands next;
        begin(next, part);
        const float own[2] = {rows.of(part / kPanels, 0), rows.of(part / kPanels, 1)};
        finish_panel<kOfOne>(p, tile, d[part / kPanels], own, operands, reduced,
                             part % kPanels * kWords, start + part % Work::kTurns * kOfTurn,
                             first_row + part / kPanels * 64, part % kPanels * kPanel, lane);
        end(next, part);
      }
    }
    if constexpr (Work::kTurns > 1 && Work::kOutputs > 0) wait();  // the panels are free
  }

 private:
  // Of a pair: instruction n of a panel, and 8 rows below or not.
  template <class Tile>
  static TILE_DEVICE auto place(const Tile& tile, i32 row, i32 column, i32 lane, int n, int below) {
    return typename Work::Place(tile, row + lane / 4 + 8 * below, column + 8 * n + lane % 4 * 2);
  }

  // For those that have a panel together.
  static TILE_DEVICE void wait() {
    if constexpr (kTogether) {
      AlongM::wait();
    } else {
      __syncwarp();
    }
  }

  template <int kCount, class Params, class Tile>
  static TILE_DEVICE void finish_panel(const Params& p, const Tile& tile,
                                       const Sum (&d)[Work::kProducts * kCount],
                                       const float (&own)[2], const Operands& operands,
                                       Reductions& reduced, int first, u32 panel, i32 row,
                                       i32 column, i32 lane) {
    // Two instructions' columns at a time: four words, of rows lane / 4 and 8 below.
#pragma unroll
    for (int j = 0; j < kPanel / 16; ++j) {
      u32 words[kOutputs][4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int n = 2 * j + i / 2, of = first + 4 * n + i % 2 * 2;
        if (of >= kCount) break;
        Sum pair[2 * Work::kProducts];
#pragma unroll
        for (int q = 0; q < 2 * Work::kProducts; ++q) pair[q] = d[q / 2 * kCount + of + q % 2];
        const auto& vector = operands.vector[n][i % 2 % Operands::kRows];
        const auto at = place(tile, row, column, lane, n, i % 2);
        if constexpr (Work::kReductions > 0) {
          if (is_inside(column + 8 * n) && at.is_in_row(p))
            reduce(p, at, vector, pair, own[i % 2], reduced.all[i % 2]);
        }
        if constexpr (Work::kOutputs > 0) {
          u32 made[Work::kOutputs];
          if constexpr (Work::kStatistic) {
            vector.map(p, at, pair, own[i % 2], made);
          } else {
            vector.map(p, at, pair, made);
          }
#pragma unroll
          for (int o = 0; o < Work::kOutputs; ++o) words[o][i] = made[o];
        }
      }
#pragma unroll
      for (int o = 0; o < Work::kOutputs; ++o) {
        const u32 to = panel + o * kOfOutput;
        if constexpr (kAlongM) {
          const u32 column = 16 * j + lane / 16 * 8 + lane % 8;
          store_matrices<4, true>(to + AlongM::written(column, lane / 8 % 2), words[o]);
        } else {
          store_matrices(to + swizzled_chunk<128>(lane % 16, 2 * j + lane / 16), words[o]);
        }
      }
    }
    if constexpr (Work::kOutputs > 0) {
      wait();
      store_panel<0>(p, tile, panel, row, column, lane);
      if constexpr (Work::kTurns == 1) wait();  // the panel is free
    }
  }

  template <class Params, class Place, class Vector, class Pair, class All>
  static TILE_DEVICE void reduce(const Params& p, const Place& at, const Vector& vector,
                                 const Pair& pair, float own, All& all) {
    if constexpr (Work::kStatistic) {
      vector.reduce(p, at, pair, own, all);
    } else {
      vector.reduce(p, at, pair, all);
    }
  }

  template <int kOutput, class Params, class Tile>
  static TILE_DEVICE void store_panel(const Params& p, const Tile& tile, u32 panel, i32 row,
                                      i32 column, i32 lane) {
    u32 words[4][4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const u32 chunk =
          kAlongM ? AlongM::chunk(i, lane) : swizzled_chunk<128>(4 * i + lane / 8, lane % 8);
      const u32 from = panel + kOutput * kOfOutput + chunk;
      asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(words[i][0]), "=r"(words[i][1]), "=r"(words[i][2]), "=r"(words[i][3])
                   : "r"(from)
                   : "memory");
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const i32 at_column = column + (kAlongM ? AlongM::column(i, lane) : lane % 8 * 8);
      const i32 at_row = row + (kAlongM ? AlongM::row(lane) : 4 * i + lane / 8);
      const typename Work::Place at(tile, at_row, at_column);
      if (is_inside(at_column) && at.exists(p))
        Work::Stored::template store<kOutput>(p, at, words[i]);
    }
    if constexpr (kOutput + 1 < Work::kOutputs) {
      store_panel<kOutput + 1>(p, tile, panel, row, column, lane);
    }
  }

  static TILE_DEVICE bool is_inside(i32 column) {
    return Work::kN % kPanel == 0 || column < Work::kN;
  }
};

}  // namespace tile
