// C += A * B of tiles in shared memory by the warps of a block, on tensor cores. A is kM x kK, B is
// kN x kK, and LayoutA()(m, k), LayoutB()(n, k) are their elements' places, which may be swizzled
// (tile/fragments.cuh). Warps are arranged kWarpsM x kWarpsN, and each has a part of the sums
// in its registers. tile/block_product_fma.cuh does the same without tensor cores.
#pragma once

#include "tile/fragments.cuh"
#include "tile/mma.cuh"

namespace tile {

// What products do with elements as they come from shared memory.
struct AsTheyAre {
  template <class Register>
  static TILE_DEVICE Register enter(Register x) {
    return x;
  }
};
// Tensor cores cut f32 off to tf32. With this they round, to nearest and ties away from zero: four
// times as fast as the conversion's instruction.
struct RoundedToTf32 {
  static TILE_DEVICE u32 enter(u32 x) {
    const float value = __uint_as_float(x);
    return value == value ? x + 0x1000u : x;  // nan stays
  }
};

// Mma is an mma.sync that the library writes. All threads of the block call these together.
template <class Mma, class LayoutA, class LayoutB, int kM, int kN, int kK, int kWarpsM, int kWarpsN,
          class Entry = AsTheyAre>
struct BlockProduct {
  using Sum = typename Mma::C;
  static constexpr int kThreads = 32 * kWarpsM * kWarpsN;
  static constexpr int kAtomsM = kM / kWarpsM / Mma::kM, kAtomsN = kN / kWarpsN / Mma::kN;
  static constexpr int kRowsOfWarp = kM / kWarpsM;
  static constexpr int kParts = kAtomsM;       // of these rows, in the order of a thread's sums
  static constexpr int kSteps = kK / Mma::kK;  // along k, a product each
  static constexpr int kValues = kAtomsM * kAtomsN * Mma::kC;  // sums of a thread
  static_assert(kAtomsM * Mma::kM * kWarpsM == kM && kAtomsN * Mma::kN * kWarpsN == kN &&
                    kSteps * Mma::kK == kK,
                "the tile has whole instructions for each warp");

  // Where sum `value` of a thread lies in the tile. Sums 2i and 2i + 1 are neighbours along n.
  static TILE_DEVICE constexpr i32 row(i32 thread, i32 value) {
    return thread / 32 % kWarpsM * (kAtomsM * Mma::kM) + value / (kAtomsN * Mma::kC) * Mma::kM +
           Mma::row_c(thread % 32, value % Mma::kC);
  }
  static TILE_DEVICE constexpr i32 column(i32 thread, i32 value) {
    return thread / 32 / kWarpsM * (kAtomsN * Mma::kN) + value / Mma::kC % kAtomsN * Mma::kN +
           Mma::column_c(thread % 32, value % Mma::kC);
  }

  // The operands of one step, for callers that load one while they multiply another.
  struct Step {
    typename Mma::A a[kAtomsM][Mma::kA];
    typename Mma::B b[kAtomsN][Mma::kB];
  };

  TILE_DEVICE explicit BlockProduct(i32 thread) {
    const i32 warp = thread / 32;
    a_.begin(warp % kWarpsM * (kAtomsM * Mma::kM), thread % 32);
    b_.begin(warp / kWarpsM * (kAtomsN * Mma::kN), thread % 32);
  }

  TILE_DEVICE void clear() {
#pragma unroll
    for (int i = 0; i < kValues; ++i) value(i) = 0;
  }
  TILE_DEVICE Sum& value(int i) {
    return sum_[i / (kAtomsN * Mma::kC)][i / Mma::kC % kAtomsN][i % Mma::kC];
  }

  TILE_DEVICE void load(Step& step, const void* a, const void* b, int k) const {
    a_.load(step.a, static_cast<const unsigned char*>(a), k);
    b_.load(step.b, static_cast<const unsigned char*>(b), k);
#pragma unroll
    for (int i = 0; i < kAtomsM * Mma::kA; ++i) enter(step.a[i / Mma::kA][i % Mma::kA]);
#pragma unroll
    for (int i = 0; i < kAtomsN * Mma::kB; ++i) enter(step.b[i / Mma::kB][i % Mma::kB]);
  }
  // Neighbours share an operand: rows of instructions go to and fro.
  TILE_DEVICE void accumulate(const Step& step) {
#pragma unroll
    for (int m = 0; m < kAtomsM; ++m) {
#pragma unroll
      for (int i = 0; i < kAtomsN; ++i) {
        const int n = m % 2 == 0 ? i : kAtomsN - 1 - i;
        tile::accumulate<Mma>(sum_[m][n], step.a[m], step.b[n]);
      }
    }
  }

  // Adds the product of whole tiles, whose elements are there for all threads.
  TILE_DEVICE void multiply(const void* a, const void* b) {
    Step step[2];
    load(step[0], a, b, 0);
#pragma unroll
    for (int k = 0; k < kSteps; ++k) {
      if (k + 1 < kSteps) load(step[(k + 1) % 2], a, b, k + 1);
      accumulate(step[k % 2]);
    }
  }

 private:
  template <class Register>
  static TILE_DEVICE void enter(Register& x) {
    x = Entry::enter(x);
  }

  OperandFragments<LayoutA, typename Mma::A, kAtomsM, Mma::kM, Mma::kK, Mma::kA, kM, kK> a_;
  OperandFragments<LayoutB, typename Mma::B, kAtomsN, Mma::kN, Mma::kK, Mma::kB, kN, kK> b_;
  Sum sum_[kAtomsM][kAtomsN][Mma::kC];
};

}  // namespace tile
