// C += A * B of tiles in shared memory by the threads of a block, without tensor cores: of any
// types that have a compute type. The interface is that of tile/block_product.cuh. Warps are
// arranged kWarpsM x kWarpsN, lanes 8 x 4; a thread has runs of kRun rows and columns, so that
// tiles that lie along rows are read 16 bytes at once.
#pragma once

#include "tile/shared_facts.cuh"

namespace tile {

TILE_DEVICE float add_product(float a, float b, float sum) {
  return __fmaf_rn(a, b, sum);
}
TILE_DEVICE double add_product(double a, double b, double sum) {
  return __fma_rn(a, b, sum);
}
template <class T>
TILE_DEVICE T add_product(T a, T b, T sum) {
  return a * b + sum;
}

// The rows of a thread, of those of a tile in shared memory with elements of type T.
template <class T, class Value, class Layout, int kLanes, int kCount, int kRun, int kRows,
          int kDepth>
struct OperandRows {
  static constexpr bool kWide = kRun > 1 && has_runs<Layout, Along::rows>(kRows, kDepth, kRun);

  // Row `i` of a thread whose part begins at `first`.
  static TILE_DEVICE constexpr i32 row(i32 first, i32 lane, i32 i) {
    return first + i / kRun * (kLanes * kRun) + lane * kRun + i % kRun;
  }

  static_assert(is_even<Layout, Along::rows>(kRows, kDepth, 1) &&
                    is_even<Layout, Along::columns>(kDepth, kRows, 1),
                "constants say where rows and columns lie behind a thread's first element");

  // Where the first element of a thread lies.
  static TILE_DEVICE constexpr i32 place(i32 first, i32 lane) {
    return Layout()(row(first, lane, 0), 0);
  }
  // `own` is that element.
  TILE_DEVICE void load(Value (&r)[kCount], const T* own, int k) const {
    struct alignas(sizeof(T) * kRun) Run {
      T element[kRun];
    };
#pragma unroll
    for (int i = 0; i < kCount; i += kWide ? kRun : 1) {
      if constexpr (kWide) {
        const Run run = *reinterpret_cast<const Run*>(own + Layout()(row(0, 0, i), k));
#pragma unroll
        for (int e = 0; e < kRun; ++e) r[i + e] = Value(to_compute(run.element[e]));
      } else {
        r[i] = Value(to_compute(own[Layout()(row(0, 0, i), k)]));
      }
    }
  }
};

// A and B are the storage types of the tiles, Sum_ is that of products and sums.
template <class Sum_, class A, class B, class LayoutA, class LayoutB, int kM, int kN, int kK,
          int kWarpsM, int kWarpsN>
struct BlockProductFma {
  using Sum = Sum_;
  static constexpr int kThreads = 32 * kWarpsM * kWarpsN;
  static constexpr int kCountM = kM / kWarpsM / 8, kCountN = kN / kWarpsN / 4;  // of a thread
  static constexpr int kWhole = 16 / int(sizeof(Sum));
  static constexpr int kRunM = kCountM % kWhole == 0 ? kWhole : 1;
  static constexpr int kRunN = kCountN % kWhole == 0 ? kWhole : 1;
  static constexpr int kRowsOfWarp = kM / kWarpsM;
  static constexpr int kParts = kCountM / kRunM;  // of these rows, in the order of a thread's sums
  static constexpr int kSteps = kK;
  static constexpr int kValues = kCountM * kCountN;
  static_assert(kCountM * kWarpsM * 8 == kM && kCountN * kWarpsN * 4 == kN,
                "each thread has as many rows and columns");

 private:
  using RowsA = OperandRows<A, Sum, LayoutA, 8, kCountM, kRunM, kM, kK>;
  using RowsB = OperandRows<B, Sum, LayoutB, 4, kCountN, kRunN, kN, kK>;
  static TILE_DEVICE constexpr i32 first_m(i32 thread) {
    return thread / 32 % kWarpsM * (8 * kCountM);
  }
  static TILE_DEVICE constexpr i32 first_n(i32 thread) {
    return thread / 32 / kWarpsM * (4 * kCountN);
  }

 public:
  static TILE_DEVICE constexpr i32 row(i32 thread, i32 value) {
    return RowsA::row(first_m(thread), thread % 8, value / kCountN);
  }
  static TILE_DEVICE constexpr i32 column(i32 thread, i32 value) {
    return RowsB::row(first_n(thread), thread % 32 / 8, value % kCountN);
  }

  struct Step {
    Sum a[kCountM], b[kCountN];
  };

  TILE_DEVICE explicit BlockProductFma(i32 thread)
      : place_a_(RowsA::place(first_m(thread), thread % 8)),
        place_b_(RowsB::place(first_n(thread), thread % 32 / 8)) {
#ifdef __CUDA_ARCH__
    // Otherwise the compiler computes many addresses from the thread's number, and keeps them all.
    asm volatile("" : "+r"(place_a_), "+r"(place_b_));
#endif
  }

  TILE_DEVICE void clear() {
#pragma unroll
    for (int i = 0; i < kValues; ++i) value(i) = 0;
  }
  TILE_DEVICE Sum& value(int i) {
    return sum_[i / kCountN][i % kCountN];
  }

  TILE_DEVICE void load(Step& step, const void* a, const void* b, int k) const {
    RowsA().load(step.a, static_cast<const A*>(a) + place_a_, k);
    RowsB().load(step.b, static_cast<const B*>(b) + place_b_, k);
  }
  TILE_DEVICE void accumulate(const Step& step) {
#pragma unroll
    for (int m = 0; m < kCountM; ++m) {
#pragma unroll
      for (int i = 0; i < kCountN; ++i) {
        const int n = m % 2 == 0 ? i : kCountN - 1 - i;  // neighbours share a register
        sum_[m][n] = add_product(step.a[m], step.b[n], sum_[m][n]);
      }
    }
  }

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
  i32 place_a_, place_b_;
  Sum sum_[kCountM][kCountN];
};

}  // namespace tile
