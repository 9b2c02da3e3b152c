// What kernels of matrix products have in common, whatever multiplies: a ring of stages in shared
// memory, sums of several blocks in one order, and how sums reach the epilogue by vectors.
#pragma once

#include "tile/grid_tile.cuh"
#include "tile/operand_loader.cuh"

namespace tile {

// Adds `blocks` steps along K. Each stage has a tile of A and, kBytesA behind it, one of B. The
// operands of a product are loaded while the one before is multiplied, also from stage to stage.
template <int kStages, int kBytesA, int kBytesB, class Product, class Params, class LoaderA,
          class LoaderB>
TILE_DEVICE void multiply_blocks(const Params& p, Product& product, LoaderA& a, LoaderB& b,
                                 unsigned char* memory, i32 blocks) {
  constexpr int kStage = kBytesA + kBytesB, kSteps = Product::kSteps;
  static_assert(kSteps % 2 == 0, "two sets of operands take turns");
  int filled = 0, used = 0;  // stages
  const auto fill = [&](i32 block) {
    if (block < blocks) {
      a.load(p, memory + filled * kStage);
      b.load(p, memory + filled * kStage + kBytesA);
    }
    filled = filled + 1 == kStages ? 0 : filled + 1;
    async_copy_commit();  // also if empty, so that groups and steps are counted alike
  };
#pragma unroll
  for (i32 block = 0; block < kStages - 1; ++block) fill(block);
  async_copy_wait<kStages - 2>();
  __syncthreads();  // the first stage has arrived for all
  constexpr bool kHolds = LoaderA::kHolds || LoaderB::kHolds;
  [[maybe_unused]] typename LoaderA::Held held_a;
  [[maybe_unused]] typename LoaderB::Held held_b;
  typename Product::Step step[2];
  product.load(step[0], memory, memory + kBytesA, 0);
#pragma unroll 1
  for (i32 block = 0; block < blocks; ++block) {
    if constexpr (kHolds) {
      if (block + kStages - 1 < blocks) {
        a.start(p, memory + filled * kStage, held_a);
        b.start(p, memory + filled * kStage + kBytesA, held_b);
      }
      async_copy_commit();
    } else {
      fill(block + kStages - 1);
    }
#pragma unroll
    for (int k = 0; k < kSteps; ++k) {
      if (k + 1 == kSteps) {
        if constexpr (kHolds) {
          if (block + kStages - 1 < blocks) {
            a.finish(p, memory + filled * kStage, held_a);
            b.finish(p, memory + filled * kStage + kBytesA, held_b);
          }
          filled = filled + 1 == kStages ? 0 : filled + 1;
        }
        used = used + 1 == kStages ? 0 : used + 1;
        async_copy_wait<kStages - 2>();
        __syncthreads();  // the next stage has arrived for all, and this one is free
      }
      const unsigned char* const stage = memory + used * kStage;
      product.load(step[(k + 1) % 2], stage, stage + kBytesA, (k + 1) % kSteps);
      product.accumulate(step[k % 2]);
    }
  }
  async_copy_wait<0>();
  __syncthreads();  // shared memory is free
}

// Adds the sums of the `splits` blocks that share a tile, always in the same order: each leaves its
// own in memory, and the last one to come adds all. Returns whether this block is the last one.
// `counter` is 0 before, and again after.
template <class Product>
TILE_DEVICE bool add_splits(Product& product, typename Product::Sum* partials, u32* counter,
                            u32 split, u32 splits) {
  using Sum = typename Product::Sum;
  constexpr int kTile = Product::kValues * Product::kThreads;
  Sum* const own = partials + i64(split) * kTile + threadIdx.x;
#pragma unroll
  for (int i = 0; i < Product::kValues; ++i) own[i * Product::kThreads] = product.value(i);
  __threadfence();  // the sums are there before the count
  __syncthreads();
  __shared__ bool is_last;
  if (threadIdx.x == 0) is_last = atomicInc(counter, splits - 1) == splits - 1;
  __syncthreads();
  if (!is_last) return false;
  __threadfence();  // the count is read before the sums
  product.clear();
#pragma unroll 1
  for (u32 s = 0; s < splits; ++s) {
    const Sum* const from = partials + i64(s) * kTile + threadIdx.x;
#pragma unroll
    for (int i = 0; i < Product::kValues; ++i) product.value(i) += from[i * Product::kThreads];
  }
  return true;
}

// Sums on their way from the threads that added them to those that store them. A pass takes the
// kPasses-th part of each thread's sums, and with them of each warp's rows. Vectors lie along n, or
// along m if kAlongM.
template <class Product, int kM, int kN, int kPasses, bool kAlongM>
struct SumExchange {
  using Sum = typename Product::Sum;
  static constexpr int kRows = kM / kPasses;
  static constexpr int kLine = kAlongM ? kRows : kN, kLines = kAlongM ? kN : kRows;
  // Lines are this far apart, such that the sums of a warp lie in different banks.
  static constexpr int kPitch = kLine + (kAlongM ? 16 : 32) / int(sizeof(Sum));
  static constexpr int kBytes = kLines * kPitch * int(sizeof(Sum));
  static constexpr int kOfPass = Product::kValues / kPasses;
  static_assert(Product::kParts % kPasses == 0, "a pass has whole parts of each warp's rows");

  // Where row `row` of the tile lies in its pass, and which row of the tile row `row` of a pass is.
  static TILE_DEVICE constexpr i32 row_in_pass(i32 row) {
    return row / Product::kRowsOfWarp * (Product::kRowsOfWarp / kPasses) +
           row % (Product::kRowsOfWarp / kPasses);
  }
  static TILE_DEVICE constexpr i32 row_in_tile(i32 row, i32 pass) {
    constexpr i32 kPart = Product::kRowsOfWarp / kPasses;
    return row / kPart * Product::kRowsOfWarp + pass * kPart + row % kPart;
  }

  static TILE_DEVICE void put(Sum* memory, Product& product, int pass) {
#pragma unroll
    for (int i = 0; i < kOfPass; ++i) {
      const int value = pass * kOfPass + i;
      const i32 row = row_in_pass(Product::row(threadIdx.x, value)),
                column = Product::column(threadIdx.x, value);
      memory[kAlongM ? column * kPitch + row : row * kPitch + column] = product.value(value);
    }
  }
};

// One tile of a product, and the formula around it. Work, which the library writes, has
//   kM, kN, kK                              of the tile
//   kStages, kSplits, kPasses, kVector, kAlongM
//   Product, LoaderA, LoaderB, SharedA, SharedB
//   extent_k(p), tile_at(p, number)         Tile: where the block's tile lies
//   matrix_a(p, tile), matrix_b(p, tile)    the operands' matrices
//   Place, Vector                           the formula's operands, vector by vector
template <class Work, class Params>
TILE_DEVICE void multiply_matrices(const Params& p, unsigned char* memory) {
  using Product = typename Work::Product;
  using Sum = typename Product::Sum;
  using Exchange = SumExchange<Product, Work::kM, Work::kN, Work::kPasses, Work::kAlongM>;
  constexpr int kBytesA = Work::SharedA::cosize * int(sizeof(typename Work::LoaderA::Shared));
  constexpr int kBytesB = Work::SharedB::cosize * int(sizeof(typename Work::LoaderB::Shared));
  const auto tile = Work::tile_at(p, blockIdx.x / Work::kSplits);
  const u32 split = blockIdx.x % Work::kSplits;
  const i64 extent_k = Work::extent_k(p);
  const i32 all = i32((extent_k + Work::kK - 1) / Work::kK),
            each = (all + Work::kSplits - 1) / Work::kSplits, first = i32(split) * each;
  const i32 blocks = all - first < each ? all - first : each;

  Product product(threadIdx.x);
  product.clear();
  typename Work::LoaderA a(p, Work::matrix_a(p, tile), tile.m, Work::extent_m(p),
                           i64(first) * Work::kK, extent_k, threadIdx.x);
  typename Work::LoaderB b(p, Work::matrix_b(p, tile), tile.n, Work::extent_n(p),
                           i64(first) * Work::kK, extent_k, threadIdx.x);
  multiply_blocks<Work::kStages, kBytesA, kBytesB>(p, product, a, b, memory, blocks);
  if constexpr (Work::kSplits > 1) {
    u32* const counters = reinterpret_cast<u32*>(p.partials);
    Sum* const partials = reinterpret_cast<Sum*>(p.partials + Work::kCounterBytes);
    const u32 number = blockIdx.x / Work::kSplits;
    if (!add_splits(product, partials + i64(number) * Work::kSplits * Work::kM * Work::kN,
                    counters + number, split, Work::kSplits)) {
      return;
    }
  }

  Sum* const sums = reinterpret_cast<Sum*>(memory);
  constexpr int kPerLine = Exchange::kLine / Work::kVector;
#pragma unroll
  for (int pass = 0; pass < Work::kPasses; ++pass) {
    if (pass > 0) __syncthreads();  // the pass before has been read
    Exchange::put(sums, product, pass);
    __syncthreads();  // the sums of the pass are there
#pragma unroll 1
    for (int i = threadIdx.x; i < kPerLine * Exchange::kLines; i += Product::kThreads) {
      const int along = i % kPerLine * Work::kVector, line = i / kPerLine;
      const int row = Exchange::row_in_tile(Work::kAlongM ? along : line, pass);
      const typename Work::Place at(tile, row, Work::kAlongM ? line : along);
      if (!at.exists(p)) continue;
      typename Work::Vector vector;
      vector.load(p, at);
      vector.map(p, at, sums + line * Exchange::kPitch + along);
    }
  }
}

}  // namespace tile
