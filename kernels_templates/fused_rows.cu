// Reductions, and formulas that use their results: out(c) = formula(in(c), results of c's row). A
// row is the part of the iteration space over which the formula reduces.
// kLanes threads of a block, or of each of kCluster blocks, share a row. Each thread folds its part
// into an accumulator. The plan alone decides the order in which accumulators are combined, so the
// result has the same bits in every run.
// A formula with several reductions, each using the result of another, makes one pass over the row
// per reduction, and one more for outputs of the full space. The passes read vectors held in
// registers, or read the row again. When they read again, a sum of exponentials below a maximum is
// folded in the maximum's pass (kRescales), by each lane below its own maximum.
// Vectors lie along the row (kAlong), or each element of a vector belongs to a separate row. If
// rows are few and long, kShares blocks leave their accumulators in memory; a second kernel
// combines them, or the last of these blocks does. Blocks of a cluster process several rows
// (TAKES_ROW_AFTER_ROW), with the next row on its way to registers while they wait for each other.
// Two rows in flight make the memory slower.
// Code that a kernel does not need is removed with #if, because parsing it takes a twentieth of the
// compile time.
#include "plan.cuh"  // generated: constants, Params, Row, Results, the stages, Vector

constexpr int kGroups = kThreads / kLanes;  // groups of lanes in a block
constexpr int kBlocksOfRow = kCluster * kShares;
constexpr int kRowLanes = kLanes * kCluster;  // per row, or per share of a row
constexpr int kHeldOrOne = kHeld > 0 ? kHeld : 1;
// If vectors lie across rows, each run of kChain vectors (128 elements) is summed separately, so
// that errors do not grow with the row's length.
constexpr int kChain = 128 / kVector > kBatch ? 128 / kVector : kBatch;
// Along the row, the sums of a lane's batches are added in groups of four, these sums again in
// groups of four, and so on, over kLevels levels. Errors then grow with the logarithm of the row's
// length (pairwise summation; Higham, "The accuracy of floating point summation", 1993), for one
// more addition per batch. Rescaled sums are excluded, because each of their combinations has the
// error of an exponential.
constexpr int kLevels = 5;
// A lane's vectors go to this many accumulators in turn: chains are shorter, and additions do not
// wait for each other.
constexpr int kVectorsAtOnce = kHeld > 0 ? kHeld : kBatch;
constexpr int kParts = !kAlong ? 1 : kVectorsAtOnce < 4 ? kVectorsAtOnce : 4;

// Loops over lanes are not unrolled, which halves the code to compile, except if blocks wait for
// each other.
constexpr int kUnrolledTurns = kCluster > 1 ? 5 : 1;

// What the lanes and blocks of a row exchange. Reduction n of a kernel uses buffer n % 2: a thread
// that is done with it knows that all threads are done with reduction n - 1. If vectors lie across
// rows, there is one buffer: the warps' accumulators come first, then the results. The results may
// still be read while the next reduction, whose accumulators may be larger, writes its warps'
// accumulators.
constexpr int kResults = kGroups * kAcross;  // per block
constexpr int kWarpsOfRow = kLanes / kThreadsInWarp<kGroups>;
constexpr int kBytesOfWarps = (kStageBytes * kWarpsOfRow * kResults + 15) / 16 * 16;
constexpr int kSlotBytes =
    kAlong ? kStageBytes * (kThreads / 32) : kBytesOfWarps + kStageBytes * kResults;
struct Shared {
  alignas(16) unsigned char slots[kAlong ? 2 : 1][kSlotBytes > 0 ? kSlotBytes : 16];
#if USES_CLUSTER
  ClusterReduction<kCluster, kResults, kStageBytes> cluster;
#endif
};

// Combines all lanes' accumulators; every lane gets the result.
template <class Stage>
TILE_DEVICE void combine_lanes(Stage (&a)[kAcross], int lane, int group, Shared& shared, u32 n) {
  if constexpr (kAlong) {
    Stage* const of_warps = reinterpret_cast<Stage*>(shared.slots[n % 2]);
#if USES_CLUSTER
    reduce_along<kLanes, kUnrolledTurns>(a[0], lane, group, of_warps, n, shared.cluster);
#else
    reduce_along<kLanes, kUnrolledTurns>(a[0], lane, group, of_warps);
#endif
  } else if constexpr (kLanes * kCluster > 1) {
    Stage* const of_warps = reinterpret_cast<Stage*>(shared.slots[0]);
    Stage* const results = reinterpret_cast<Stage*>(shared.slots[0] + kBytesOfWarps);
#if USES_CLUSTER
    reduce_across<kLanes, kGroups>(a, lane, group, of_warps, results, n, shared.cluster);
#else
    reduce_across<kLanes, kGroups>(a, lane, group, of_warps, results);
#endif
  }
}

#if SHARES_ROWS
// The shares of a row are consecutive. If the row is contiguous, each share is a multiple of a
// warp's vectors.
TILE_DEVICE Index share_length(Index count) {
  constexpr Index kLeast = kAlong ? 32 : 1;
  return (count + kShares * kLeast - 1) / (kShares * kLeast) * kLeast;
}

// Where share `share` of the row in element e of a vector is stored.
template <class Stage>
TILE_DEVICE Stage* partial(const Params& p, u32 row, int e, int share) {
  return reinterpret_cast<Stage*>(partials_of(p)) + (i64(row) * kAcross + e) * kShares + share;
}
#endif

// One thread's view of its rows.
struct Lane {
  const Params& p;
  Row row;
  Index begin, end;  // in vectors: the row, or the block's share of it
  int lane, group;
  bool active;  // its row exists

  // Loads the vectors of the row that the lane holds in registers.
  TILE_DEVICE void load(Vector* held) const {
#pragma unroll
    for (int s = 0; s < kHeld; ++s) {
      const Index v = begin + lane + s * kRowLanes;
      if (kStepsAreWhole || v < end) held[s].load(p, row, v);
    }
  }

#if !HOLDS_ROWS
  // Folds the lane's vectors, from `v` on, that are loaded together.
  template <class Stage, int kTurns>
  TILE_DEVICE void fold_batch(Index v, const Results (&r)[kAcross],
                              Accumulators<Stage, kAcross> (&part)[kTurns]) const {
    Vector x[kBatch];
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      if (v + b * kRowLanes < end) x[b].load(p, row, v + b * kRowLanes);
    }
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      if (v + b * kRowLanes < end) x[b].fold(p, row, v + b * kRowLanes, r, part[b % kTurns].of);
    }
#if RESCALES_SUMS
    if constexpr (Stage::kRescales) {
#pragma unroll
      for (int b = 0; b < kBatch; ++b) {
        if (v + b * kRowLanes < end) x[b].fold(p, row, v + b * kRowLanes, r, part[0].of, Below());
      }
    }
#endif
  }
#endif

  // Folds the lane's part of its rows.
  template <class Stage>
  TILE_DEVICE void fold(const Vector* held, const Results (&r)[kAcross],
                        Accumulators<Stage, kAcross>& total) const {
#if HOLDS_ROWS
    Accumulators<Stage, kAcross> part[kParts];
#pragma unroll
    for (int s = 0; s < kHeld; ++s) {
      const Index v = begin + lane + s * kRowLanes;
      if (kStepsAreWhole || v < end) held[s].fold(p, row, v, r, part[s % kParts].of);
    }
    combine_parts(part);
    total = part[0];
#else
    constexpr int kTurns = Stage::kRescales ? 1 : kParts;
    if constexpr (kAlong && !Stage::kRescales) {
      Accumulators<Stage, kAcross> sum[kLevels];
      u32 turn = 0;
      for (Index v = begin + lane; v < end; v += kBatch * kRowLanes) {
        Accumulators<Stage, kAcross> part[kTurns];
        fold_batch(v, r, part);
        combine_parts(part);
        sum[0].combine(part[0]);
        ++turn;
#pragma unroll
        for (int l = 1; l < kLevels; ++l) {
          if (turn % (1u << 2 * l) != 0) break;
          sum[l].combine(sum[l - 1]);
          sum[l - 1] = Accumulators<Stage, kAcross>();
        }
      }
      total = sum[kLevels - 1];
#pragma unroll
      for (int l = kLevels - 1; l > 0; --l) total.combine(sum[l - 1]);
    } else {
      constexpr int kVectors = Stage::kRescales ? kBatch : kChain;  // per maximum, or per chain
      for (Index v = begin + lane; v < end;) {
        Accumulators<Stage, kAcross> part[kTurns];
        for (int s = 0; s < kVectors && v < end; s += kBatch, v += kBatch * kRowLanes)
          fold_batch(v, r, part);
        combine_parts(part);
        total.combine(part[0]);
      }
    }
#endif
  }

  template <class Stage>
  TILE_DEVICE void reduce(const Vector* held, Results (&r)[kAcross], Shared& shared, u32 n) const {
    Accumulators<Stage, kAcross> total;
    fold(held, r, total);
#if USES_CLUSTER
    if (n == 0) cluster_wait();  // all blocks have begun, and their barriers are ready
#endif
    combine_lanes(total.of, lane % kLanes, group, shared, n);
#pragma unroll
    for (int e = 0; e < kAcross; ++e) total.of[e].finish(p, r[e]);
  }

  // All reductions of a row. The first is the kernel's reduction n.
  template <class... Stages>
  TILE_DEVICE void reduce_all(List<Stages...>, const Vector* held, Results (&r)[kAcross],
                              Shared& shared, u32 n) const {
    (reduce<Stages>(held, r, shared, n++), ...);
  }

#if SHARES_ROWS
  // Writes the accumulators of the block's share of its rows to memory.
  template <class Stage>
  TILE_DEVICE void reduce_share(List<Stage>, u32 row_index, int share, Shared& shared) const {
    Accumulators<Stage, kAcross> total;
    const Results none[kAcross] = {};
    Vector held[kHeldOrOne];
    load(held);
    fold(held, none, total);
    combine_lanes(total.of, lane, group, shared, 0);
    if (lane != 0 || !active) return;
    for (int e = 0; e < kAcross; ++e) *partial<Stage>(p, row_index, e, share) = total.of[e];
  }
#endif

  TILE_DEVICE void map(const Vector* held, const Results (&r)[kAcross]) const {
#if HOLDS_ROWS
#pragma unroll
    for (int s = 0; s < kHeld; ++s) {
      const Index v = lane + s * kRowLanes;
      if (kStepsAreWhole || v < end) held[s].map(p, row, v, r);
    }
#else
    for (Index v = lane; v < end; v += kBatch * kRowLanes) {
      Vector x[kBatch];
#pragma unroll
      for (int b = 0; b < kBatch; ++b) {
        if (v + b * kRowLanes < end) x[b].load(p, row, v + b * kRowLanes);
      }
#pragma unroll
      for (int b = 0; b < kBatch; ++b) {
        if (v + b * kRowLanes < end) x[b].map(p, row, v + b * kRowLanes, r);
      }
    }
#endif
  }
};

#if !SHARES_ROWS
// Everything that follows the loads of a row. Its first reduction is the kernel's reduction n.
TILE_DEVICE void finish_row(const Lane& self, const Vector* held, Shared& shared, u32 n) {
  Results r[kAcross];
  self.reduce_all(Stages(), held, r, shared, n);
  if (kFullOutputs && self.active) self.map(held, r);
  if constexpr (kRowOutputs) {
    if constexpr (kRowsInPlace) {  // other lanes still read them
      __syncthreads();
#if USES_CLUSTER
      cluster_sync();
#endif
    }
    if (self.lane == 0 && self.active) store_row(self.p, self.row, r);
  }
}
#endif

#if SHARES_ROWS
// Combines the accumulators that all blocks of one row left, with kCombiners threads: a warp or a
// block.
template <class Stage>
TILE_DEVICE void combine_row(List<Stage>, const Params& p, u32 index) {
  if (index >= u32(p.total)) return;
  constexpr int kWarps = kCombiners / 32;
  alignas(16) __shared__ unsigned char slots[sizeof(Stage) * kWarps * kAcross];
  Stage* const of_warps = reinterpret_cast<Stage*>(slots);
  const int lane = threadIdx.x % kCombiners;
  Stage a[kAcross] = {Stage()};
  constexpr int kTurns = (kShares + kCombiners - 1) / kCombiners;
  for (int e = 0; e < kAcross; ++e) {
#pragma unroll
    for (int turn = 0; turn < kTurns; ++turn) {
      const int share = lane + turn * kCombiners;
      if (share < kShares) a[e].combine(*partial<Stage>(p, index, e, share));
    }
    combine_neighbours<32, true, 1>(a[e]);
    if (kWarps > 1 && lane % 32 == 0) of_warps[e * kWarps + lane / 32] = a[e];
  }
  if constexpr (kWarps > 1) {
    __syncthreads();
    for (int e = 0; e < kAcross; ++e) {
      a[e] = of_warps[e * kWarps + lane % kWarps];
      combine_neighbours<kWarps, true, 1>(a[e]);
    }
    __syncthreads();
  }
  Results r[kAcross];
  for (int e = 0; e < kAcross; ++e) a[e].finish(p, r[e]);
  if (lane == 0) store_row(p, row_at(p, index), r);
}

#if COUNTS_BLOCKS
// The last of the blocks that share rows combines what they left, and resets the count to 0 for the
// next launch.
TILE_DEVICE void combine_rows_if_last(const Params& p) {
  __shared__ bool last;
  __syncthreads();
  const u32 number = blockIdx.x / kShares;
  if (threadIdx.x == 0) {
    __threadfence();  // this block's accumulators become visible before its count
    last = atomicInc(reinterpret_cast<u32*>(p.partials) + number, kShares - 1) == kShares - 1;
    __threadfence();  // and the others' are read after their counts
  }
  __syncthreads();
  if (!last) return;
  for (int group = threadIdx.x / kCombiners; group < kGroups; group += kThreads / kCombiners) {
    combine_row(Stages(), p, number * kGroups + group);
  }
}
#endif
#endif

extern "C" __global__ void __launch_bounds__(kThreads)
#if USES_CLUSTER
    __cluster_dims__(kCluster, 1, 1)
#endif
        KERNEL_NAME(const __grid_constant__ Params p) {
  __shared__ Shared shared;
  follow_previous_kernel();
  const int rank = blockIdx.x % kCluster;
  const int lane = (kAlong ? threadIdx.x % kLanes : threadIdx.x / kGroups) + rank * kLanes;
  const int group = kAlong ? threadIdx.x / kLanes : threadIdx.x % kGroups;
  const u32 index = blockIdx.x / kBlocksOfRow * kGroups + group, total = u32(p.total);
#if USES_CLUSTER
  if (threadIdx.x < 2) init_barrier(&shared.cluster.arrived[threadIdx.x]);
  cluster_arrive();
#endif
  const bool active =
      kBlocksAreWhole || index < total;  // others run too, so that all reach the barriers
  Lane self{p, row_at(p, active ? index : total - 1), 0, row_length(p), lane, group, active};
#if SHARES_ROWS
  const Index length = share_length(self.end);
  const int share = blockIdx.x % kShares;
  self.begin = share * length < self.end ? share * length : self.end;
  if (self.end - self.begin > length) self.end = self.begin + length;
  self.reduce_share(Stages(), index, share, shared);
#if COUNTS_BLOCKS
  combine_rows_if_last(p);
#endif
#else
  Vector held[kHeldOrOne];
  self.load(held);
#if KEEPS_INPUTS
  __shared__ u64 kept;
  if (threadIdx.x == 0) {
    init_barrier(&kept);
    fetch_kept(p, rank, &kept);
  }
  __syncthreads();
  wait_for_bytes(&kept, 0);
#endif
#if TAKES_ROW_AFTER_ROW
  const u32 step = gridDim.x / kBlocksOfRow;  // rows processed at a time
  u32 i = index, n = 0;
  for (;; n += kReductions) {
    i += step;
    const Lane next{p, row_at(p, i), 0, self.end, lane, group, true};
    Vector ahead[kHeldOrOne];
    if (i < total) next.load(ahead);
    finish_row(self, held, shared, n);
    if (i >= total) break;
    self.row = next.row;
#pragma unroll
    for (int s = 0; s < kHeld; ++s) held[s] = ahead[s];
  }
#else
  finish_row(self, held, shared, 0);
#endif
#endif
}

#if SHARES_ROWS && !COUNTS_BLOCKS
extern "C" __global__ void __launch_bounds__(kCombineThreads)
    KERNEL_NAME_COMBINE(const __grid_constant__ Params p) {
  follow_previous_kernel();
  combine_row(Stages(), p, (blockIdx.x * kCombineThreads + threadIdx.x) / kCombiners);
}
#endif
