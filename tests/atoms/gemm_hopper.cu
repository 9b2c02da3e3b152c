// D[M][N] = A[M][K] * B[N][K]^T in bf16 with f32 sums, for sm_90a: what the headers of the tile
// library make of a matrix product. A producer thread fills a ring of stages through tensor maps;
// kConsumers warpgroups multiply, 64 rows each; the blocks of a cluster are neighbours along M and
// share their columns of B, of which each loads a part for all. The grid is persistent.
//
//   shared memory:  A[kStages] | B[kStages] | one panel of 64 x 64 per consumer | barriers
//
// product.cuh, written by the library, has Mma, TileA, TileB, kStages, kConsumers and kCluster.
#include "tile/barrier.cuh"
#include "tile/bf16.cuh"
#include "tile/cluster.cuh"
#include "tile/ldmatrix.cuh"
#include "tile/named_barrier.cuh"
#include "tile/pipeline.cuh"
#include "tile/roles.cuh"
#include "tile/tensor_map.cuh"
#include "tile/wgmma.cuh"

#include "product.cuh"

using namespace tile;

constexpr int kRows = 64 * kConsumers, kColumns = Mma::kN, kDepth = 64, kSteps = kDepth / Mma::kK;
constexpr int kThreads = 128 * (kConsumers + 1);
constexpr u32 kPanelBytes = 64 * 64 * 2;
using Ring = Pipeline<kStages>;

struct SharedMemory {
  u32 a, b, panels, barriers;
  TILE_DEVICE explicit SharedMemory(u32 start)
      : a(start),
        b(a + kStages * TileA::kBytes),
        panels(b + kStages * TileB::kBytes),
        barriers(panels + kConsumers * kPanelBytes) {}
};

struct Place {
  i32 row, column;
};

// Blocks of a cluster get neighbours along M.
TILE_DEVICE Place place_of(i32 t, i32 tiles_m) {
  return {t % tiles_m * kRows, t / tiles_m * kColumns};
}

TILE_DEVICE void produce(const TensorMap& map_a, const TensorMap& map_b, const SharedMemory& shared,
                         Ring ring, i32 tiles, i32 tiles_m, i32 blocks_k) {
  u32 rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  constexpr u32 kPart = TileB::kBytes / kCluster;
  Ring::State at;
  for (i32 t = blockIdx.x; t < tiles; t += gridDim.x) {
    const Place place = place_of(t, tiles_m);
    for (i32 k = 0; k < blocks_k; ++k, at.advance()) {
      ring.acquire(at);
      ring.expect(at, TileA::kBytes + TileB::kBytes);
      load_box(shared.a + at.stage * TileA::kBytes, map_a, Box{k * kDepth, place.row},
               ring.full(at));
      const u32 to = shared.b + at.stage * TileB::kBytes + rank * kPart;
      const Box<2> part = {{k * kDepth, place.column + i32(rank) * (kColumns / kCluster)}};
      if constexpr (kCluster == 1) {
        load_box(to, map_b, part, ring.full(at));
      } else {
        load_box_multicast(to, map_b, part, ring.full(at), (1 << kCluster) - 1);
      }
    }
  }
  ring.drain(at);
}

template <bool kClear>
TILE_DEVICE void multiply_stage(f32 (&d)[Mma::kC], const SharedMemory& shared, u32 stage,
                                u32 rows) {
  const u64 a = TileA::descriptor(shared.a + stage * TileA::kBytes) + TileA::step(1, 0) * rows;
  const u64 b = TileB::descriptor(shared.b + stage * TileB::kBytes);
  wgmma_fence();
  Mma::fma<kClear>(d, a, b);
#pragma unroll
  for (int k = 1; k < kSteps; ++k) {
    Mma::fma<false>(d, a + TileA::step(0, k), b + TileB::step(0, k));
  }
  wgmma_commit();
}

// 64 columns of the sums, from d[first] on, to a panel as the tensor map of D expects it.
TILE_DEVICE void write_panel(u32 panel, const f32 (&d)[Mma::kC], int first, u32 warp, u32 lane) {
  const MatrixRow at = matrix_row_of_a(lane);
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    u32 words[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) pack_word<bf16>(words[i], d + first + 8 * j + 2 * i);
    store_matrices(panel + swizzled_chunk<128>(warp * 16 + at.row, 2 * j + at.chunk), words);
  }
}

// The barrier of one consumer's warpgroup.
TILE_DEVICE void consumer_sync(u32 consumer) {
  if (consumer == 0) {
    named_barrier_sync<1, 128>();
  } else if (consumer == 1) {
    named_barrier_sync<2, 128>();
  } else {
    named_barrier_sync<3, 128>();
  }
}

TILE_DEVICE void consume(const TensorMap& map_d, const SharedMemory& shared, Ring ring, i32 tiles,
                         i32 tiles_m, i32 blocks_k, u32 consumer) {
  const u32 thread = threadIdx.x % 128, panel = shared.panels + consumer * kPanelBytes;
  const auto release = [&](Ring::State state) {
    if (thread < kCluster) ring.release_in_block(state, thread);
  };
  Ring::State at;
  for (i32 t = blockIdx.x; t < tiles; t += gridDim.x) {
    // The first stage clears, so that this is a constant everywhere. One batch stays in flight.
    f32 d[Mma::kC];
    ring.wait(at);
    multiply_stage<true>(d, shared, at.stage, consumer);
    Ring::State before = at;
    at.advance();
#pragma unroll 1
    for (i32 k = 1; k < blocks_k; ++k, at.advance()) {
      ring.wait(at);
      multiply_stage<false>(d, shared, at.stage, consumer);
      wgmma_wait<1>();
      release(before);
      before = at;
    }
    wgmma_wait<0>();
    release(before);
    pin(d);
    const Place place = place_of(t, tiles_m);
#pragma unroll
    for (int p = 0; p < kColumns / 64; ++p) {
      if (thread == 0) store_wait_read<0>();
      consumer_sync(consumer);
      write_panel(panel, d, 32 * p, thread / 32, thread % 32);
      fence_async_proxy();
      consumer_sync(consumer);
      if (thread == 0) {
        store_box(map_d, Box{place.column + p * 64, place.row + i32(consumer) * 64}, panel);
        store_commit();
      }
    }
  }
  if (thread == 0) store_wait<0>();
}

// maps: of A (K x M, box 64 x kRows), B (K x N, box 64 x kColumns / kCluster) and D (N x M, box 64
// x 64), each with a swizzle of 128 bytes. ceil(M / kRows) is a multiple of kCluster.
extern "C" __global__ void __launch_bounds__(kThreads, 1)
    gemm(const TensorMap* maps, const u16*, const u16*, u16*, i64 M, i64 N, i64 K) {
  extern __shared__ __align__(1024) unsigned char memory[];
  const SharedMemory shared(shared_address(memory));
  const Ring ring{shared.barriers};
  const u32 warp = warp_index();
  if (warp == 0 && elect_one()) ring.init(1, kConsumers * kCluster);
  cluster_sync();

  const i32 tiles_m = i32((M + kRows - 1) / kRows), tiles_n = i32((N + kColumns - 1) / kColumns);
  const i32 tiles = tiles_m * tiles_n, blocks_k = i32((K + kDepth - 1) / kDepth);
  if (warp < 4) {
    release_registers<40>();
    if (warp == 0 && elect_one()) produce(maps[0], maps[1], shared, ring, tiles, tiles_m, blocks_k);
  } else {
    take_registers<232>();
    consume(maps[2], shared, ring, tiles, tiles_m, blocks_k, warp / 4 - 1);
  }
  cluster_sync();  // no block ends while another one arrives at its barriers
}
