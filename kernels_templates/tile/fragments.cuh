// The fragments of one operand of tensor-core products by a warp, from a tile in shared memory with
// any constant layout, (row, k) -> element. Rows are those of the product for A, and its columns
// for B. Tiles with 16 bytes side by side along k, or for 16-bit elements along rows, are read by
// ldmatrix; 8-byte elements and all other layouts by loads of registers, or of elements.
#pragma once

#include "tile/barrier.cuh"
#include "tile/ldmatrix.cuh"
#include "tile/shared_facts.cuh"

namespace tile {

// kAtoms fragments along rows; each has kHeight rows, kWidth elements along k, and kRegisters of
// type Register in a lane. The tile has kRows x kDepth elements.
template <class Layout, class Register, int kAtoms, int kHeight, int kWidth, int kRegisters,
          int kRows, int kDepth>
struct OperandFragments {
  static constexpr int kBytes = kRegisters * 32 * int(sizeof(Register)) / (kHeight * kWidth);
  static constexpr int kPacked = int(sizeof(Register)) / kBytes;  // elements in a register
  static constexpr int kHalves = kHeight / 8;                     // registers below each other

  static constexpr bool kMatricesAlongK =
      kBytes <= 4 && has_runs<Layout, Along::columns>(kDepth, kRows, 16 / kBytes);
  static constexpr bool kMatricesAlongRows =
      kBytes == 2 && !kMatricesAlongK && has_runs<Layout, Along::rows>(kRows, kDepth, 8);
  static constexpr bool kMatrices = kMatricesAlongK || kMatricesAlongRows;
  // Fragments that one ldmatrix fills, four registers if they divide.
  static constexpr int kTogether = kRegisters == 1 && kAtoms % 4 == 0   ? 4
                                   : kRegisters <= 2 && kAtoms % 2 == 0 ? 2
                                                                        : 1;
  // Elements of other layouts that one load takes.
  static constexpr int kRun =
      has_runs<Layout, Along::columns>(kDepth, kRows, kPacked) ? kPacked : 1;

  // A warp's loads step through its rows and along k. Where steps lie evenly, constants say where;
  // the places before that are kept in registers.
  static constexpr int kRowStep = kMatrices ? kTogether * kHeight : 8;
  static constexpr int kStepK = kMatrices ? kWidth : 4 * kPacked;
  static constexpr int kEvenRows = even_step<Layout, Along::rows>(kRows, kDepth, kRowStep);
  static constexpr int kEvenK = even_step<Layout, Along::columns>(kDepth, kRows, kStepK);
  static constexpr int kPlacesOfRows = kEvenRows / kRowStep, kPlacesOfK = kEvenK / kStepK;
  i32 place[kPlacesOfRows][kPlacesOfK][kMatrices ? 1 : kPacked / kRun];  // in bytes

  TILE_DEVICE void begin(i32 first_row, i32 lane) {
#pragma unroll
    for (int i = 0; i < kPlacesOfRows; ++i) {
#pragma unroll
      for (int j = 0; j < kPlacesOfK; ++j) {
        const i32 row = first_row + i * kRowStep, k = j * kStepK;
        if constexpr (kMatrices) {
          const i32 matrix = lane / 8 % (kTogether * kRegisters), of = matrix % kRegisters;
          const i32 corner = row + matrix / kRegisters * kHeight + of % kHalves * 8,
                    column = k + of / kHalves * (16 / kBytes);
          place[i][j][0] = kBytes * Layout()(corner + (kMatricesAlongK ? lane % 8 : 0),
                                             column + (kMatricesAlongK ? 0 : lane % 8));
        } else {
#pragma unroll
          for (int e = 0; e < kPacked / kRun; ++e) {
            place[i][j][e] = kBytes * Layout()(row + lane / 4, k + lane % 4 * kPacked + e);
          }
        }
      }
    }
  }

  // The fragments of one step along k.
  TILE_DEVICE void load(Register (&r)[kAtoms][kRegisters], const unsigned char* tile,
                        int step) const {
    if constexpr (kMatrices) {
#pragma unroll
      for (int i = 0; i < kAtoms / kTogether; ++i) {
        u32 loaded[kTogether * kRegisters];
        load_matrices<kTogether * kRegisters, kMatricesAlongRows>(
            loaded, shared_address(tile) + u32(place_of(i, step, 0)));
#pragma unroll
        for (int j = 0; j < kTogether * kRegisters; ++j) {
          r[i * kTogether + j / kRegisters][j % kRegisters] = loaded[j];
        }
      }
    } else {
#pragma unroll
      for (int i = 0; i < kAtoms * kRegisters; ++i) {
        const int atom = i / kRegisters, of = i % kRegisters;
        r[atom][of] = gather(tile, atom * kHalves + of % kHalves,
                             step * (kRegisters / kHalves) + of / kHalves);
      }
    }
  }

 private:
  TILE_DEVICE i32 place_of(int row, int k, int element) const {
    constexpr i32 kFarRows = kBytes * distance<Layout, Along::rows>(kRows, kEvenRows),
                  kFarK = kBytes * distance<Layout, Along::columns>(kDepth, kEvenK);
    return place[row % kPlacesOfRows][k % kPlacesOfK][element] + row / kPlacesOfRows * kFarRows +
           k / kPlacesOfK * kFarK;
  }
  TILE_DEVICE Register gather(const unsigned char* tile, int row, int k) const {
    if constexpr (kRun == kPacked) {
      return *reinterpret_cast<const Register*>(tile + place_of(row, k, 0));
    } else {
      u32 packed = 0;
#pragma unroll
      for (int e = 0; e < kPacked; ++e) {
        const unsigned char* const from = tile + place_of(row, k, e);
        const u32 element = kBytes == 1 ? *from : *reinterpret_cast<const u16*>(from);
        packed |= element << (8 * kBytes * e);
      }
      return packed;
    }
  }
};

}  // namespace tile
