// Copies into shared memory. Threads wait for them at a barrier that counts their bytes, from sm_90
// on (PTX ISA, "cp.async.bulk" and "mbarrier").
#pragma once

#include "tile/barrier.cuh"

namespace tile {

// Both addresses and the size are multiples of 16 bytes.
TILE_DEVICE void copy_bulk(void* to, const void* from, u32 bytes, u64* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}

// A row's vectors are dealt to kBlocks blocks in turn, kThreads to each, in kSteps steps. Returns
// how many of `count` vectors block `rank` gets in step `step`.
template <int kThreads, int kBlocks>
TILE_DEVICE u32 vectors_of_step(i64 count, int rank, int step) {
  const i64 left = count - (step * kBlocks + rank) * kThreads;
  return left < 0 ? 0 : left < kThreads ? u32(left) : kThreads;
}

// Promises the bytes of the block's vectors of a row. A vector has kBytes in all operands together.
template <int kBytes, int kThreads, int kBlocks, int kSteps>
TILE_DEVICE void fetch_promise(i64 count, int rank, u64* full) {
  u32 vectors = 0;
  for (int s = 0; s < kSteps; ++s) vectors += vectors_of_step<kThreads, kBlocks>(count, rank, s);
  expect_bytes(full, vectors * kBytes);
}

// Copies the block's vectors, of kBytes each, from the row that begins at `row`.
template <int kBytes, int kThreads, int kBlocks, int kSteps>
TILE_DEVICE void fetch_vectors(unsigned char* to, const void* row, i64 count, int rank, u64* full) {
  const unsigned char* from = static_cast<const unsigned char*>(row);
  for (int s = 0; s < kSteps; ++s) {
    const u32 vectors = vectors_of_step<kThreads, kBlocks>(count, rank, s);
    if (vectors == 0) return;
    copy_bulk(to + s * kThreads * kBytes, from + i64(s * kBlocks + rank) * kThreads * kBytes,
              vectors * kBytes, full);
  }
}

}  // namespace tile
