// A of wgmma with elements of 32 bits that lie along M. The instruction reads these from registers
// only, so each warp takes its rows from shared memory, where tensor maps leave them.
#pragma once

#include "tile/types.cuh"

namespace tile {

// kRows by kDepth elements, in boxes of 32 rows. A box has 128 bytes for each k, swizzled, and of 8
// k in the order 0 4 1 5 2 6 3 7: a register has k 0 to 3 or 4 to 7 of a warp's lanes, which then
// are two lines apart, so that the swizzle puts them into 32 different banks.
template <int kRows, int kDepth>
struct OperandAlongM {
  static constexpr int kBoxRows = 32, kSteps = kDepth / 8;
  static constexpr u32 kLine = 128, kStep = 8 * kLine, kBox = kDepth * kLine;  // bytes
  static constexpr u32 kBytes = kRows * kDepth * 4;
  static_assert(kRows % kBoxRows == 0 && kDepth % 8 == 0, "whole boxes and instructions");

  // Where a lane's first element lies in the tile, if the warp's 16 rows begin at first_row.
  static TILE_DEVICE u32 place(u32 first_row, u32 lane) {
    const u32 row = first_row + lane / 4, line = 2 * (lane % 4);
    const u32 chunk = (row % kBoxRows / 4) ^ line;
    return row / kBoxRows * kBox + line * kLine + chunk * 16 + row % 4 * 4;
  }

  // Instruction `step` of a stage: registers 1 and 3 have rows 8 below, 2 and 3 have k + 4.
  static TILE_DEVICE void load(u32 (&a)[4], u32 tile, u32 place, int step) {
#pragma unroll
    for (u32 i = 0; i < 4; ++i) {
      const u32 below = i % 2, later = i / 2;
      const u32 own = place ^ (below * 32) ^ (later * 16);  // of two chunks on, and of the next
      const u32 from = tile + own + later * kLine + step * kStep;
      asm volatile("ld.shared.b32 %0, [%1];" : "=r"(a[i]) : "r"(from) : "memory");
    }
  }
};

}  // namespace tile
