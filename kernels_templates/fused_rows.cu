// Reductions, and formulas that use their results: out(c) = formula(in(c), results of c's row). A
// row is the part of the iteration space over which the formula reduces.
// kRowThreads threads of a block, or of each of kCluster blocks, share a row. Each thread folds its
// part into an accumulator. The plan alone decides the order in which accumulators are combined, so
// the result has the same bits in every run. A formula with several reductions, each using the
// result of another, makes one pass over the row per reduction, and one more for outputs of the
// full space. The passes read vectors held in registers, or read the row again. When they read
// again, a sum of exponentials below a maximum is folded in the maximum's pass (kRescales), by each
// thread below its own maximum. Vectors lie along the row (kAlong), or each element of a vector
// belongs to a separate row. If rows are few and long, kSplits blocks leave their accumulators in
// memory; a second kernel combines them, or the last of these blocks does. Blocks of a cluster
// process several rows (TAKES_ROW_AFTER_ROW), with the next row on its way to registers while they
// wait for each other. Two rows in flight make the memory slower. Code that a kernel does not need
// is removed with #if, because parsing it takes a twentieth of the compile time.
#include "plan.cuh"  // generated: constants, Params, Row, Results, the passes, Vector

enum : int { kGroups = kThreads / kRowThreads };  // groups of threads in a block
enum : int { kBlocksOfRow = kCluster * kSplits };
enum : int { kClusterRowThreads = kRowThreads * kCluster };  // per row, or per split of a row
enum : int { kRegisterVectorsOrOne = kRegisterVectors > 0 ? kRegisterVectors : 1 };
// If vectors lie across rows, each run of kChain vectors (128 elements) is summed separately, so
// that errors do not grow with the row's length. Batches with centres of their own, of which a
// thread has few, go straight to the total.
#if defined(PARTS_HAVE_CENTRES) && !CHAINS_BATCHES
enum : int { kChain = kBatch };
#else
enum : int { kChain = 128 / kVector > kBatch ? 128 / kVector : kBatch };
#endif
// Along the row, the sums of a thread's batches are added in groups of four, these sums again in
// groups of four, and so on, over kLevels levels. Errors then grow with the logarithm of the row's
// length (pairwise summation; Higham, "The accuracy of floating point summation", 1993), for one
// more addition per batch. Rescaled sums are excluded, because each of their combinations has the
// error of an exponential.
enum : int { kLevels = 5 };
// A thread's vectors go to this many accumulators in turn: chains are shorter, and additions do not
// wait for each other. To move centres together takes as long as some 20 elements do, so a batch
// has one.
enum : int { kVectorsAtOnce = kRegisterVectors > 0 ? kRegisterVectors : kBatch };
#ifdef PARTS_HAVE_CENTRES
enum : int { kParts = 1 };
#else
enum : int { kParts = !kAlong ? 1 : kVectorsAtOnce < 4 ? kVectorsAtOnce : 4 };
#endif

// Whether threads side by side belong to neighbouring rows.
#ifdef ROWS_ABREAST
enum : bool { kAbreast = true };
#else
enum : bool { kAbreast = !kAlong };
#endif

// Loops over threads are unrolled if blocks wait for each other, or if a thread's value is one
// word; of few threads, which wait for nothing else, also if it is two. The code of larger ones
// would take longer to compile, that of places a twentieth.
#ifdef HAS_FEW_THREADS
template <class Pass>
constexpr int kUnrolledTurns = kCluster > 1 || sizeof(Pass) <= 8 ? 5 : 1;
#else
template <class Pass>
constexpr int kUnrolledTurns = kCluster > 1 || kPassBytes <= 4 ? 5 : 1;
#endif

// Vectors of a thread that passes take without asking whether these exist. Conditions keep the
// compiler from holding what several passes compute, for which large blocks lack registers.
#ifdef ASKS_IN_PASSES
enum : int { kWholeFolds = 0 };
#else
enum : int { kWholeFolds = kWholeSteps };
#endif

// Whether batches that are whole have code of their own, without conditions: there are 7
// predicates, and behind more conditions ptxas lets each load wait for the one before. Batches of
// columns that are not whole load their first vector again in the place of those that do not exist.
// Lanes of a warp have about as many vectors, so that few warps take both ways.
enum : bool { kAsksOnce = (kAbreast || kRowThreads >= 32) && !kComputesAlways && kBatch > 7 };

// What the threads and blocks of a row exchange. Reduction n of a kernel uses buffer n % 2: a
// thread that is done with it knows that all threads are done with reduction n - 1. If vectors lie
// across rows, and the block meets twice, there is one buffer: the warps' accumulators come first,
// then the results. The results may still be read while the next reduction, whose accumulators may
// be larger, writes its warps' accumulators.
enum : int { kResults = kGroups * kAcross };  // per block
enum : int { kWarpsOfRow = kRowThreads / kThreadsInWarp<kGroups> };
enum : int { kBytesOfWarps = (kPassBytes * kWarpsOfRow * kResults + 15) / 16 * 16 };
// To meet twice takes as long as to read kBytesOfMeeting from shared memory.
enum : int { kBytesOfMeeting = 8192 };
#if USES_CLUSTER || defined(TURNS_OUTPUTS)
enum : bool { kMeetsOnce = false };
#else
enum : int {
  kBytesOfEachWarp = kPassBytes * kWarpsOfRow * kAcross * (kGroups < 32 ? kGroups : 32)
};
enum : bool {
  kMeetsOnce = kAbreast && kRowThreads > 1 && kBytesOfEachWarp*(kThreads / 32) <= kBytesOfMeeting
};
#endif
enum : int {
  kSlotBytes = !kAbreast                     ? kPassBytes * (kThreads / 32)
               : kRowThreads * kCluster == 1 ? 0
               : kMeetsOnce                  ? kBytesOfWarps
                                             : kBytesOfWarps + kPassBytes * kResults
};
struct Shared {
  alignas(
      16) unsigned char slots[kAbreast && !kMeetsOnce ? 1 : 2][kSlotBytes > 0 ? kSlotBytes : 16];
#if USES_CLUSTER
  ClusterReduction<kCluster, kResults, kPassBytes> cluster;
#endif
};

// Combines all threads' accumulators; every thread gets the result.
template <class Pass>
TILE_DEVICE void combine_threads(Pass (&a)[kAcross], int rank, int group, Shared& shared, u32 n) {
  if constexpr (!kAbreast) {
    Pass* const of_warps = reinterpret_cast<Pass*>(shared.slots[n % 2]);
#if USES_CLUSTER
    reduce_along<kRowThreads, kUnrolledTurns<Pass>>(a[0], rank, group, of_warps, n, shared.cluster);
#else
    reduce_along<kRowThreads, kUnrolledTurns<Pass>>(a[0], rank, group, of_warps);
#endif
  } else if constexpr (kMeetsOnce) {
    Pass* const of_warps = reinterpret_cast<Pass*>(shared.slots[n % 2]);
    reduce_across_once<kRowThreads, kGroups>(a, rank, group, of_warps);
  } else if constexpr (kRowThreads * kCluster > 1) {
    Pass* const of_warps = reinterpret_cast<Pass*>(shared.slots[0]);
    Pass* const results = reinterpret_cast<Pass*>(shared.slots[0] + kBytesOfWarps);
#if USES_CLUSTER
    reduce_across<kRowThreads, kGroups>(a, rank, group, of_warps, results, n, shared.cluster);
#else
    reduce_across<kRowThreads, kGroups>(a, rank, group, of_warps, results);
#endif
  }
}

#if SPLITS_ROWS
// The splits of a row are consecutive. If the row is contiguous, each split is a multiple of a
// warp's vectors, or of those of the row's threads if they are no whole warps: held vectors then
// are all of a split.
TILE_DEVICE Index split_length(Index count) {
  constexpr Index kLeast = !kAlong ? 1 : kRowThreads % 32 == 0 ? 32 : kRowThreads;
  return (count + kSplits * kLeast - 1) / (kSplits * kLeast) * kLeast;
}

// Where split `split` of the row in element e of a vector is stored.
template <class Pass>
TILE_DEVICE Pass* partial(const Params& p, u32 row, int e, int split) {
  return reinterpret_cast<Pass*>(partials_of(p)) + (i64(row) * kAcross + e) * kSplits + split;
}
#endif

// One thread's view of its rows.
struct Thread {
  const Params& p;
  Row row;
  Index begin, end;  // in vectors: the row, or the block's split of it
  int rank, group;
  bool active;  // its row exists

  // Loads the vectors of the row that the thread holds in registers, if the row is wanted.
  TILE_DEVICE void load(Vector* vectors, bool wanted = true) const {
#if ROWS_IN_REGISTERS
    int s = 0;
#pragma unroll
    do {
      const Index v = begin + rank + s * kClusterRowThreads;
      vectors[s].load(p, row, v, wanted && (s < kWholeSteps || v < end));
    } while (kRegisterVectors > 1 && ++s < kRegisterVectors);
#endif
  }

#ifdef TURNS_INPUTS
  // The same if some inputs lie along rows: the block brings them to shared memory, for some
  // vectors of each thread at once. `first` is the number of its first row.
  TILE_DEVICE void load_turned(Vector* vectors, u32 first) const {
    begin_turned_inputs(p, first);
    const int own = rank % kRowThreads;
    Row at = row;
    at.column = group * kAcross;
#pragma unroll
    for (int begun = 0; begun < kRegisterVectors; begun += kTurnedInputs) {
      __syncthreads();  // all know where rows begin, and have taken the vectors before
      bring_turned_inputs(p, rank - own + begun * kClusterRowThreads);
      async_copy_commit();
      async_copy_wait<0>();
      __syncthreads();  // all inputs of these vectors are in shared memory
#pragma unroll
      for (int s = begun; s < begun + kTurnedInputs && s < kRegisterVectors; ++s) {
        const Index v = rank + s * kClusterRowThreads;
        at.place = own + (s - begun) * kRowThreads;
        vectors[s].load(p, at, v, s < kWholeSteps || v < end);
      }
    }
  }
#endif

#ifdef HOLDS_VALUES
  // Computes what several passes need of each element.
  TILE_DEVICE void hold_values(Vector* vectors) const {
    int s = 0;
#pragma unroll
    do {
      const Index v = rank + s * kClusterRowThreads;
      if (s < kWholeFolds || v < end) vectors[s].hold_values(p, row, v);
    } while (kRegisterVectors > 1 && ++s < kRegisterVectors);
  }
#endif

#if !ROWS_IN_REGISTERS
  // Whether all of the thread's vectors exist that are loaded together, from `v` on, and code
  // without conditions is worth it.
  TILE_DEVICE bool takes_whole_batch(Index v) const {
    return kAsksOnce && v + (kBatch - 1) * kClusterRowThreads < end;
  }
  template <bool kAll, class Loaded>
  TILE_DEVICE void load_batch(Index v, Loaded (&x)[kBatch]) const {
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      if constexpr (kAll || (kAsksOnce && !kAlong)) {
        const Index own = v + b * kClusterRowThreads;
        x[b].load(p, row, kAll || own < end ? own : v);
      } else {
        x[b].load(p, row, v + b * kClusterRowThreads, v + b * kClusterRowThreads < end);
      }
    }
  }
  // Folds these vectors. `Loaded` is a parameter since only some vectors have the fold below a
  // maximum.
  template <bool kAll, class Pass, int kTurns, class Loaded = Vector>
  TILE_DEVICE void fold_batch(Index v, const Results (&r)[kAcross],
                              Accumulators<Pass, kAcross> (&part)[kTurns]) const {
    Loaded x[kBatch];
    load_batch<kAll>(v, x);
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      if (kAll || kComputesAlways || v + b * kClusterRowThreads < end)
        x[b].fold(p, row, v + b * kClusterRowThreads, r, part[b % kTurns].of);
    }
    if constexpr (Pass::kRescales) {
#pragma unroll
      for (int b = 0; b < kBatch; ++b) {
        if (kAll || kComputesAlways || v + b * kClusterRowThreads < end)
          x[b].fold(p, row, v + b * kClusterRowThreads, r, part[0].of, Below());
      }
    }
  }
  template <class Pass, int kTurns>
  TILE_DEVICE void fold_next(Index v, const Results (&r)[kAcross],
                             Accumulators<Pass, kAcross> (&part)[kTurns]) const {
    if (takes_whole_batch(v)) {
      fold_batch<true>(v, r, part);
    } else {
      fold_batch<false>(v, r, part);
    }
  }
#endif

  // Folds the thread's part of its rows.
  template <class Pass>
  TILE_DEVICE void fold(const Vector* vectors, const Results (&r)[kAcross],
                        Accumulators<Pass, kAcross>& total) const {
#if ROWS_IN_REGISTERS
    if constexpr (kParts == 1) {
      int s = 0;
#pragma unroll
      do {
        const Index v = begin + rank + s * kClusterRowThreads;
        if (kComputesAlways || s < kWholeFolds || v < end) vectors[s].fold(p, row, v, r, total.of);
      } while (kRegisterVectors > 1 && ++s < kRegisterVectors);
    } else {
      Accumulators<Pass, kAcross> part[kParts];
      int s = 0;
#pragma unroll
      do {
        const Index v = begin + rank + s * kClusterRowThreads;
        if (kComputesAlways || s < kWholeFolds || v < end)
          vectors[s].fold(p, row, v, r, part[s % kParts].of);
      } while (kRegisterVectors > 1 && ++s < kRegisterVectors);
      combine_parts(part);
      total = part[0];
    }
#else
    constexpr int kTurns = Pass::kRescales ? 1 : kParts;
    if constexpr (kAlong && !Pass::kRescales) {
      Accumulators<Pass, kAcross> sum[kLevels];
      u32 turn = 0;
      for (Index v = begin + rank; v < end; v += kBatch * kClusterRowThreads) {
        Accumulators<Pass, kAcross> part[kTurns];
        fold_next(v, r, part);
        combine_parts(part);
        sum[0].combine(part[0]);
        ++turn;
#pragma unroll
        for (int l = 1; l < kLevels; ++l) {
          if (turn % (1u << 2 * l) != 0) break;
          sum[l].combine(sum[l - 1]);
          sum[l - 1] = Accumulators<Pass, kAcross>();
        }
      }
      total = sum[kLevels - 1];
#pragma unroll
      for (int l = kLevels - 1; l > 0; --l) total.combine(sum[l - 1]);
    } else {
      constexpr int kVectors = Pass::kRescales ? kBatch : kChain;  // per maximum, or per chain
      for (Index v = begin + rank; v < end;) {
        Accumulators<Pass, kAcross> part[kTurns];
        for (int s = 0; s < kVectors && v < end; s += kBatch, v += kBatch * kClusterRowThreads) {
#if CHAINS_BATCHES
          Accumulators<Pass, kAcross> batch[kTurns];
          fold_next(v, r, batch);
          part[0].combine(batch[0]);
#else
          fold_next(v, r, part);
#endif
        }
        combine_parts(part);
        total.combine(part[0]);
      }
    }
#endif
  }

  template <class Pass>
  TILE_DEVICE void reduce(const Vector* vectors, Results (&r)[kAcross], Shared& shared,
                          u32 n) const {
    Accumulators<Pass, kAcross> total;
    fold(vectors, r, total);
#if USES_CLUSTER
    if (n == 0) cluster_wait();  // all blocks have begun, and their barriers are ready
#endif
    combine_threads(total.of, rank % kRowThreads, group, shared, n);
    int e = 0;
#pragma unroll
    do {
      total.of[e].finish(p, r[e]);
    } while (kAcross > 1 && ++e < kAcross);
  }

  // All reductions of a row. The first is the kernel's reduction n.
  template <class... Passes>
  TILE_DEVICE void reduce_all(List<Passes...>, const Vector* vectors, Results (&r)[kAcross],
                              Shared& shared, u32 n) const {
    (reduce<Passes>(vectors, r, shared, n++), ...);
  }

#if SPLITS_ROWS
  // Writes the accumulators of the block's split of its rows to memory.
  template <class Pass>
  TILE_DEVICE void reduce_split(List<Pass>, u32 row_index, int split, Shared& shared) const {
    Accumulators<Pass, kAcross> total;
    const Results none[kAcross] = {};
    Vector vectors[kRegisterVectorsOrOne];
    load(vectors);
    fold(vectors, none, total);
    combine_threads(total.of, rank, group, shared, 0);
    if (rank != 0 || !active) return;
    for (int e = 0; e < kAcross; ++e) *partial<Pass>(p, row_index, e, split) = total.of[e];
  }
#endif

  // Stores what the formula makes of `kCount` vectors, from `first` on, of which `kWhole` exist in
  // any case.
  template <int kCount, int kWhole>
  TILE_DEVICE void map_vectors(const Vector* vectors, Index first,
                               const Results (&r)[kAcross]) const {
#ifdef WEIGHTS_AT_ONCE
    // Loads of weights would wait for stores before them.
#pragma unroll
    for (int begun = 0; begun < kCount; begun += WEIGHTS_AT_ONCE) {
      Vector::Weights weights[WEIGHTS_AT_ONCE];
#pragma unroll
      for (int s = begun; s < begun + WEIGHTS_AT_ONCE && s < kCount; ++s) {
        const Index v = first + s * kClusterRowThreads;
        if (s < kWhole || v < end) weights[s - begun].load(p, row, v);
      }
#pragma unroll
      for (int s = begun; s < begun + WEIGHTS_AT_ONCE && s < kCount; ++s) {
        const Index v = first + s * kClusterRowThreads;
        if (s < kWhole || v < end) vectors[s].map(p, row, v, r, weights[s - begun]);
      }
    }
#else
    int s = 0;
#pragma unroll
    do {
      const Index v = first + s * kClusterRowThreads;
      if (s < kWhole || v < end) vectors[s].map(p, row, v, r);
    } while (kCount > 1 && ++s < kCount);
#endif
  }

  TILE_DEVICE void map(const Vector* vectors, const Results (&r)[kAcross]) const {
#if ROWS_IN_REGISTERS
#ifdef OFFSETS_ANEW
    // The compiler does not know that blockIdx.z is 0. It would hold the offset of each vector, two
    // registers, from its load until it is stored.
    const Index first = rank + blockIdx.z;
#else
    const Index first = rank;
#endif
    map_vectors<kRegisterVectors, kWholeFolds>(vectors, first, r);
#else
    for (Index v = rank; v < end; v += kBatch * kClusterRowThreads) {
      Vector x[kBatch];
      if (takes_whole_batch(v)) {
        load_batch<true>(v, x);
        map_vectors<kBatch, kBatch>(x, v, r);
      } else {
        load_batch<false>(v, x);
        map_vectors<kBatch, 0>(x, v, r);
      }
    }
#endif
  }

#ifdef TURNS_OUTPUTS
  // The same if some outputs lie along rows: some vectors of each thread at once leave theirs in
  // shared memory, and the block stores them as runs. `first` is the number of its first row.
  TILE_DEVICE void map_turned(const Vector* vectors, const Results (&r)[kAcross], u32 first) const {
    begin_turned(p, first);
    const int own = rank % kRowThreads;
    Row at = row;
    at.column = group * kAcross;
#if ROWS_IN_REGISTERS
#pragma unroll
    for (int begun = 0; begun < kRegisterVectors; begun += kTurned) {
#pragma unroll
      for (int s = begun; s < begun + kTurned && s < kRegisterVectors; ++s) {
        const Index v = rank + s * kClusterRowThreads;
        at.place = own + (s - begun) * kRowThreads;
        if (active && (s < kWholeFolds || v < end)) vectors[s].map(p, at, v, r);
      }
      __syncthreads();  // all outputs of these vectors are in shared memory
      store_turned(p, rank - own + begun * kClusterRowThreads);
      if (begun + kTurned < kRegisterVectors) __syncthreads();
    }
#else
    for (Index begun = 0; begun < end; begun += kTurned * kClusterRowThreads) {
      Vector x[kTurned];
#pragma unroll
      for (int b = 0; b < kTurned; ++b) {
        const Index v = begun + rank + b * kClusterRowThreads;
        x[b].load(p, row, v, v < end);
      }
      __syncthreads();  // those before are out of it
#pragma unroll
      for (int b = 0; b < kTurned; ++b) {
        const Index v = begun + rank + b * kClusterRowThreads;
        at.place = own + b * kRowThreads;
        if (active && v < end) x[b].map(p, at, v, r);
      }
      __syncthreads();  // all outputs of these vectors are in shared memory
      store_turned(p, begun + rank - own);
    }
#endif
  }
#endif
};

#if HAS_ALIKE_ROWS
// Stores the results of the thread's row in all rows that are like it.
TILE_DEVICE void store_alike(const Thread& self, const Vector* vectors,
                             const Results (&r)[kAcross]) {
  if (!self.active) return;
  Thread other = self;
  if constexpr (kFullOutputs) {
    do {
      other.map(vectors, r);
    } while (move_to_alike(other.row, 1));
  }
  if constexpr (kRowOutputs) {
    other.row = self.row;
    for (bool exists = move_to_alike(other.row, self.rank); exists;
         exists = move_to_alike(other.row, kRowThreads))
      store_row(self.p, other.row, r);
  }
}
#endif

#if !SPLITS_ROWS
// Everything that follows the loads of a row. Its first reduction is the kernel's reduction n.
TILE_DEVICE void finish_row(const Thread& self, const Vector* vectors, Shared& shared, u32 n) {
  Results r[kAcross];
  self.reduce_all(PassList(), vectors, r, shared, n);
#if HAS_ALIKE_ROWS
  store_alike(self, vectors, r);
#else
#ifdef TURNS_OUTPUTS
  self.map_turned(vectors, r, blockIdx.x / kBlocksOfRow * kGroups);
#else
  if (kFullOutputs && self.active) self.map(vectors, r);
#endif
  if constexpr (kRowOutputs) {
    if constexpr (kRowsInPlace) {  // other threads still read them
      __syncthreads();
#if USES_CLUSTER
      cluster_sync();
#endif
    }
#ifdef COMBINES_ROWS
    RowTotals totals;
    if (self.rank == 0 && self.active) store_row(self.p, self.row, r, totals);
    store_totals<kThreads>(totals, self.p);
#else
    if (self.rank == 0 && self.active) store_row(self.p, self.row, r);
#endif
  }
#endif
}
#endif

#if SPLITS_ROWS
// Combines what kCount neighbouring lanes have of each row of a vector.
template <int kCount, class Pass>
TILE_DEVICE void combine_lanes_of_rows(Pass (&a)[kAcross]) {
  if constexpr (kAcross == 1) {
    combine_neighbours<kCount, true, 1>(a[0]);
  } else {
#pragma unroll 1
    for (int offset = kCount / 2; offset > 0; offset /= 2) {
#pragma unroll
      for (int e = 0; e < kAcross; ++e) a[e].combine(shuffle_xor(a[e], offset));
    }
  }
}

// Combines the accumulators that all blocks of one row left, with kCombiners threads: a warp or a
// block. Those of a vector's rows are on their way at the same time.
template <class Pass>
TILE_DEVICE void combine_row(List<Pass>, const Params& p, u32 index) {
  if (index >= u32(p.total)) return;
  constexpr int kWarps = kCombiners / 32;
  alignas(16) __shared__ unsigned char slots[sizeof(Pass) * kWarps * kAcross];
  Pass* const of_warps = reinterpret_cast<Pass*>(slots);
  const int rank = threadIdx.x % kCombiners;
  Pass a[kAcross];
  constexpr int kTurns = (kSplits + kCombiners - 1) / kCombiners;
#pragma unroll
  for (int turn = 0; turn < kTurns; ++turn) {
    const int split = rank + turn * kCombiners;
    if (split >= kSplits) continue;
#pragma unroll
    for (int e = 0; e < kAcross; ++e) a[e].combine(*partial<Pass>(p, index, e, split));
  }
  combine_lanes_of_rows<32>(a);
  if constexpr (kWarps > 1) {
    if (rank % 32 == 0) {
      for (int e = 0; e < kAcross; ++e) of_warps[e * kWarps + rank / 32] = a[e];
    }
    __syncthreads();
    for (int e = 0; e < kAcross; ++e) a[e] = of_warps[e * kWarps + rank % kWarps];
    combine_lanes_of_rows<kWarps>(a);
    __syncthreads();
  }
  Results r[kAcross];
  for (int e = 0; e < kAcross; ++e) a[e].finish(p, r[e]);
  if (rank == 0) store_row(p, row_at(p, index), r);
}

#if COUNTS_BLOCKS
// The last of the blocks that share rows combines what they left, and resets the count to 0 for the
// next launch.
TILE_DEVICE void combine_rows_if_last(const Params& p) {
  __shared__ bool last;
  __syncthreads();
  const u32 number = blockIdx.x / kSplits;
  if (threadIdx.x == 0) {
    __threadfence();  // this block's accumulators become visible before its count
    last = atomicInc(reinterpret_cast<u32*>(p.partials) + number, kSplits - 1) == kSplits - 1;
    __threadfence();  // and the others' are read after their counts
  }
  __syncthreads();
  if (!last) return;
  for (int group = threadIdx.x / kCombiners; group < kGroups; group += kThreads / kCombiners) {
    combine_row(PassList(), p, number * kGroups + group);
  }
}
#endif
#endif

#ifdef BLOCKS_AT_ONCE
extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS_AT_ONCE)
#else
extern "C" __global__ void __launch_bounds__(kThreads)
#endif
#if USES_CLUSTER
    __cluster_dims__(kCluster, 1, 1)
#endif
        KERNEL_NAME(const __grid_constant__ Params p) {
  __shared__ Shared shared;
  follow_previous_kernel();
  const int block_rank = blockIdx.x % kCluster;
  const int rank =
      (kAbreast ? threadIdx.x / kGroups : threadIdx.x % kRowThreads) + block_rank * kRowThreads;
  const int group = kAbreast ? threadIdx.x % kGroups : threadIdx.x / kRowThreads;
  const u32 index = blockIdx.x / kBlocksOfRow * kGroups + group, total = u32(p.total);
#if USES_CLUSTER
  shared.cluster.init_barriers();
  cluster_arrive();
#endif
  const bool active =
      kBlocksAreWhole || index < total;  // others run too, so that all reach the barriers
  Thread self{p, row_at(p, active ? index : total - 1), 0, row_length(p), rank, group, active};
#if SPLITS_ROWS
  const Index length = split_length(self.end);
  const int split = blockIdx.x % kSplits;
  self.begin = split * length < self.end ? split * length : self.end;
  if (self.end - self.begin > length) self.end = self.begin + length;
  self.reduce_split(PassList(), index, split, shared);
#if COUNTS_BLOCKS
  combine_rows_if_last(p);
#endif
#else
  Vector vectors[kRegisterVectorsOrOne];
#ifdef TURNS_INPUTS
  self.load_turned(vectors, blockIdx.x / kBlocksOfRow * kGroups);
#else
  self.load(vectors);
#endif
#ifdef HOLDS_VALUES
  self.hold_values(vectors);
#endif
#if KEEPS_INPUTS
  keep_inputs(p, block_rank);
#endif
#if TAKES_ROW_AFTER_ROW
  const u32 step = gridDim.x / kBlocksOfRow;  // rows processed at a time
  u32 i = index, n = 0;
  for (;; n += kReductions) {
    i += step;
    // The next row's address depends on this row's data, though blockIdx.z is 0: a thread that
    // waits for one of them waits for both if the compiler gives them one scoreboard, so this row's
    // loads must be done when those of the next begin.
    const u32 none = reinterpret_cast<const u32*>(vectors)[0] & blockIdx.z;
    const Thread next{p, row_at(p, i + none), 0, self.end, rank, group, true};
    Vector ahead[kRegisterVectorsOrOne];
    next.load(ahead, i < total);
    asm volatile("" ::: "memory");  // the loads stay here
    finish_row(self, vectors, shared, n);
    if (i >= total) break;
    self.row = next.row;
    int s = 0;
#pragma unroll
    do {
      vectors[s] = ahead[s];
    } while (kRegisterVectors > 1 && ++s < kRegisterVectors);
  }
#else
  finish_row(self, vectors, shared, 0);
#endif
#endif
}

#if SPLITS_ROWS && !COUNTS_BLOCKS
extern "C" __global__ void __launch_bounds__(kCombineThreads)
    KERNEL_NAME_COMBINE(const __grid_constant__ Params p) {
  follow_previous_kernel();
  combine_row(PassList(), p, (blockIdx.x * kCombineThreads + threadIdx.x) / kCombiners);
}
#endif
