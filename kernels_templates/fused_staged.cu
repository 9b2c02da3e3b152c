// Reductions and scans over short rows: what fused_rows.cu and fused_scan.cu compute over longer
// ones. The rows of a block are neighbours in memory, one after another or kColumns side by side.
// The block copies them to shared memory as one run, whatever their length, 16 bytes at a time.
// kRowThreads threads take one row after another from there to registers, reduce it in as many
// passes as the formula asks for, and leave its full outputs in shared memory, from where the block
// copies them as one run. Operands that do not come as one run are accessed in global memory. The
// plan alone decides the order in which accumulators are combined, so the result has the same bits
// in every run.
#include "plan.cuh"  // generated: constants, Params, Row, Results, the passes, Vector, the copies

#if GOES_BY_CHUNKS
// Columns that are too long to be held pass through shared memory in chunks of kRegisterVectors
// elements each. A thread scans one column, and keeps what it carries from chunk to chunk in parts
// that take turns, so errors do not grow with the number of chunks.
enum : int { kChunk = kRegisterVectors };

TILE_DEVICE void scan_chunk(const Params& p, const Row& row, Index chunk, int count,
                            Scans (&carried)[1], RunningTotal<Scans, 1, kLevels, kTurns>& running) {
  const Results none[1] = {};
  Vector vectors[kChunk];
  const auto has = [&](int s) { return s < kWholeSteps || s < count; };
#pragma unroll
  for (int s = 0; s < kChunk; ++s) {
    if (has(s)) vectors[s].load(p, row, row.begin + s);
  }
  Scans total[1];
  if (kLevels > 1) {
#pragma unroll
    for (int s = 0; s < kChunk; ++s) {
      if (has(s)) vectors[s].fold(p, row, row.begin + s, none, total);
    }
  }
#pragma unroll
  for (int n = 0; n < kChunk; ++n) {
    const int s = kReverse ? kChunk - 1 - n : n;
    if (has(s)) vectors[s].map(p, row, row.begin + s, none, carried);
  }
  if (kLevels > 1) {
    running.add(total, chunk);
    running.get(carried);
  }
}

TILE_DEVICE void scan_slab(const Params& p) {
  const Index length = row_length(p), chunks = (length + kChunk - 1) / kChunk;
#ifdef CUTS_SLABS
  const u32 slab = blockIdx.x / kStrips, first = blockIdx.x % kStrips * kColumns;
  const bool active = int(threadIdx.x) < columns_of_strip();
  const int column = active ? threadIdx.x : 0;
  Row row = row_at(p, slab * kSide + first + column);
  row.from = slab * u32(length) * kSide + first;
#else
  const bool active = threadIdx.x < kColumns;
  const int column = active ? threadIdx.x : 0;
  Row row = row_at(p, blockIdx.x * kColumns + column);
#endif
  row.slot = column;
  const auto begin_of = [&](Index i) { return (kReverse ? chunks - 1 - i : i) * kChunk; };
  const auto count_from = [&](Index begin) {
    return length - begin > kChunk ? int(kChunk) : int(length - begin);
  };
  RunningTotal<Scans, 1, kLevels, kTurns> running;
  Scans carried[1];
#pragma unroll 1
  for (Index ahead = 0; ahead < chunks + kStages - 1; ++ahead) {
    async_copy_wait<kStages - 2>();
    // The chunk to scan is in shared memory, and the outputs of the one before are out of it.
    __syncthreads();
    if (ahead < chunks) {
      const Index begin = begin_of(ahead);
      bring(p, begin, count_from(begin), staging + ahead % kStages * kStageBytes);
    }
    async_copy_commit();
    if (ahead < kStages - 1) continue;
    const Index i = ahead - (kStages - 1);
    row.begin = begin_of(i);
    row.runs = staging + i % kStages * kStageBytes;
    const int count = count_from(row.begin);
    if (active) scan_chunk(p, row, i, count, carried, running);
    __syncthreads();  // the chunk's outputs are in shared memory
    take(p, row.begin, count, row.runs);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    KERNEL_NAME(const __grid_constant__ Params p) {
  follow_previous_kernel();
  scan_slab(p);
}
#else
enum : int { kGroups = kThreads / kRowThreads };  // groups of threads in a block
// A thread's vectors go to this many accumulators in turn: additions do not wait for each other.
enum : int { kParts = kRegisterVectors < 4 ? kRegisterVectors : 4 };

// A group takes one row after another; of those side by side, the last ones may not exist.
enum : int { kSlots = (kBlockRows + kGroups - 1) / kGroups * kGroups };

static_assert(kColumns > 1 || (kSlots == kBlockRows && kBlockRows % 16 == 0), "runs are aligned");

// One thread's view of its row.
struct Thread {
  const Params& p;
  const Row& row;
  const Vector* vectors;  // kRegisterVectors of them, in registers
  int rank, group;

  // Calls f(s, v) for each vector s that the thread holds, vector v of the row. Those that are
  // scanned are neighbours, in the order of the scan.
  template <class F>
  TILE_DEVICE void for_each(F f) const {
    const Index end = row_length(p);
#pragma unroll
    for (int s = 0; s < kRegisterVectors; ++s) {
#ifdef SHARES_SCANNED_ROWS
      const Index place = rank * kRegisterVectors + s;
      if (s < kWholeSteps || place < end) f(s, kReverse ? end - 1 - place : place);
#else
      const Index v = rank + s * kRowThreads;
      if (s < kWholeSteps || v < end) f(s, v);
#endif
    }
  }

#ifdef SHARES_SCANNED_ROWS
  // The same without conditions: what does not exist is the last one again.
  template <class F>
  TILE_DEVICE void for_each_or_last(F f) const {
    const Index end = row_length(p);
#pragma unroll
    for (int s = 0; s < kRegisterVectors; ++s) {
      const Index wanted = rank * kRegisterVectors + s;
      const Index place = s < kWholeSteps || wanted < end ? wanted : end - 1;
      f(s, kReverse ? end - 1 - place : place);
    }
  }
#endif

  template <class Pass>
  TILE_DEVICE void reduce(Results (&r)[1]) const {
    Accumulators<Pass, 1> part[kParts];
    for_each([&](int s, Index v) { vectors[s].fold(p, row, v, r, part[s % kParts].of); });
    combine_parts(part);
    Pass* const no_warps = nullptr;  // a row has less than a warp
    reduce_along<kRowThreads, 1>(part[0].of[0], rank, group, no_warps);
    part[0].of[0].finish(p, r[0]);
  }

  template <class... Passes>
  TILE_DEVICE void reduce_all(List<Passes...>, Results (&r)[1]) const {
    (reduce<Passes>(r), ...);
  }

#ifdef SHARES_SCANNED_ROWS
  // Scans the row, and leaves its outputs in shared memory.
  TILE_DEVICE void scan(Results (&r)[1], bool active) const {
    Scans a[1];
    const auto fold = [&](int s, Index v) { vectors[s].fold(p, row, v, r, a); };
#if SCANS_GIVE_RESULTS
    for_each(fold);
#else
    for_each_or_last(fold);  // nothing follows what does not exist
#endif
    const Scans total = scan_lanes<kRowThreads>(a[0], rank);
#if SCANS_GIVE_RESULTS
    total.finish(p, r[0]);
#endif
    __syncwarp();  // threads without an element have read the last one, where its result will be
    if (active) for_each([&](int s, Index v) { vectors[s].map(p, row, v, r, a); });
  }
#elif SCANS_ROWS
  // Scans the row, which the thread has to itself, and leaves its outputs in shared memory.
  TILE_DEVICE void scan(Results (&r)[1]) const {
#if SCANS_GIVE_RESULTS
    Scans total[1];
    for_each([&](int s, Index v) { vectors[s].fold(p, row, v, r, total); });
    total[0].finish(p, r[0]);
#endif
    Scans a[1];
#pragma unroll
    for (int s = 0; s < kRegisterVectors; ++s) {
      const int v = kReverse ? kRegisterVectors - 1 - s : s;
      vectors[v].map(p, row, v, r, a);
    }
  }
#endif
};

extern "C" __global__ void __launch_bounds__(kThreads)
    KERNEL_NAME(const __grid_constant__ Params p) {
  follow_previous_kernel();
  const int rank = threadIdx.x % kRowThreads, group = threadIdx.x / kRowThreads;
  const u32 first = blockIdx.x * kBlockRows, total = u32(p.total);
  const int rows = total - first < kBlockRows ? int(total - first) : kBlockRows;
  bring_rows(p, first, rows);
  __syncthreads();  // all rows are in shared memory
#ifdef COMBINES_ROWS
  RowTotals totals;
#endif
#pragma unroll 1
  for (int turn = 0; turn < kSlots / kGroups; ++turn) {
    const int slot = turn * kGroups + group;
    const bool active = slot < rows;
    if (kRowThreads == 1 && !active) break;  // groups of several run too: they share warps
    Row row = row_at(p, active ? first + slot : total - 1);
    row.slot = slot;
    Vector vectors[kRegisterVectors]{};
    const Thread self{p, row, vectors, rank, group};
    // Of rows side by side, shared memory has only those that exist.
    const auto load = [&](int s, Index v) { vectors[s].load(p, row, v); };
    if (kColumns == 1 || active) {
#ifdef SHARES_SCANNED_ROWS
      self.for_each_or_last(load);
#else
      self.for_each(load);
#endif
    }
#ifdef HOLDS_VALUES
    self.for_each([&](int s, Index v) { vectors[s].hold_values(p, row, v); });
#endif
    Results r[1];
    self.reduce_all(PassList(), r);
#ifdef SHARES_SCANNED_ROWS
    self.scan(r, active);
    if (!active) continue;
#else
    if (!active) continue;
#if SCANS_ROWS
    self.scan(r);
#else
    if (kFullOutputs) self.for_each([&](int s, Index v) { vectors[s].map(p, row, v, r); });
#endif
#endif
#ifdef COMBINES_ROWS
    if (rank == 0) store_row(p, row, r, totals);
  }
  store_totals<kThreads>(totals, p);
#else
    if (kRowOutputs && rank == 0) store_row(p, row, r);
  }
#endif
  __syncthreads();  // all outputs are in shared memory
  take_rows(p, first, rows);
}
#endif
