// Scans: out(c) = formula(in(c), what is combined along c's row up to c, results of the row). A row
// is the part of the iteration space along the axis that is scanned.
// kRowThreads threads of a block share a row and go through it in chunks of kSteps vectors each.
// They combine their vectors, scan these totals within warps, scan the warps' totals, and carry the
// chunk's total on to the next chunk. With the total of what lies before a thread's vectors, the
// thread then goes through them once more and stores. Vectors lie along the row (kAlong), where
// neighbours belong to neighbouring threads, or each element of a vector belongs to a separate row.
// A chunk is held in registers, so the row is read once. Reductions that the formula needs first
// read the row again, unless the row is one chunk. If rows are few and long, kSplits blocks each
// leave the total of a part in memory, and a second kernel scans the parts. The plan alone decides
// the order in which values are combined. Code that a kernel does not need is removed with #if,
// because parsing it takes a twentieth of the compile time.
#include "plan.cuh"  // generated: constants, Params, Row, Results, the passes, Scans, Vector

enum : int { kGroups = kThreads / kRowThreads };  // groups of threads in a block
enum : int { kSteps = kRegisterVectors > 0 ? kRegisterVectors : kBatch };
enum : int { kChunk = kRowThreads * kSteps };  // vectors
#ifdef TAKES_TURNS
enum : bool { kInTurns = true };  // threads go down narrow columns in turns, as along rows
#else
enum : bool { kInTurns = kAlong };
#endif
enum : int { kParts = kInTurns ? kSteps : 1 };  // of a chunk, consecutive in a thread
enum : bool { kAlone = !kAlong && kRowThreads == 1 && kRegisterVectors > 0 };  // has a column
// Reductions fold chains of 64 elements separately.
enum : int { kChain = 64 / kVector > kSteps ? 64 / kVector : kSteps };

enum : int { kThreadStride = kAlong ? 1 : kGroups };  // from one thread of a group to the next
enum : int {
  kRowThreadsOfWarp = !kAlong            ? kThreadsInWarp<kGroups>
                      : kRowThreads < 32 ? kRowThreads
                                         : 32
};
enum : int { kWarps = kRowThreads / kRowThreadsOfWarp };  // that share a row
enum : int { kMostBytes = int(sizeof(Scans)) > kPassBytes ? int(sizeof(Scans)) : kPassBytes };
enum : int { kSlotBytes = kMostBytes > 4 ? (kMostBytes + 7) / 8 * 8 : 4 };
enum : int { kSlots = kParts * kWarps * kAcross * kGroups };  // that warps exchange

#if !ROWS_IN_REGISTERS
template <class T>
using Running = RunningTotal<T, kAcross, kLevels, kTurns>;

// What rows carry from chunk to chunk. A chunk writes the value that the next one reads.
struct Carried {
  Scans value[2][kAcross];
  Running<Scans> running;
};
#endif

struct Shared {
  alignas(16) unsigned char slots[2][kSlots * kSlotBytes];
#if !ROWS_IN_REGISTERS
  alignas(16) unsigned char carried[kGroups * int(sizeof(Carried))];
#endif
};
#if !ROWS_IN_REGISTERS
TILE_DEVICE Carried& carried_of(Shared& shared, int group) {
  return reinterpret_cast<Carried*>(shared.carried)[group];
}
#endif

#if SPLITS_ROWS
// Where split `split` of the row in element e of a vector is stored.
TILE_DEVICE Scans& partial(const Params& p, u32 row, int e, int split) {
  return reinterpret_cast<Scans*>(partials_of(p))[(i64(row) * kAcross + e) * kSplits + split];
}
#endif

// One thread's view of its rows.
struct Thread {
  const Params& p;
  Shared& shared;
  Row row;
  Index count;  // vectors of a row
  int rank, group;
  bool active;   // its row exists
  int turn = 0;  // exchanges of the threads alternate between two sets of slots

  TILE_DEVICE WarpSlots<kGroups, kWarps, kSlotBytes> next_slots() {
    return {shared.slots[turn++ % 2], group};
  }

  // The place, in the order of the scan, of the thread's step `s` in a chunk, and the vector at a
  // place.
  TILE_DEVICE Index place(Index first, int s) const {
    return first + (kInTurns ? Index(s * kRowThreads + rank) : Index(rank * kSteps + s));
  }
  TILE_DEVICE Index vector(Index place) const { return kReverse ? count - 1 - place : place; }

  // Whether the row has step `s` of the chunk at `first`. If chunks are whole, a row that has the
  // chunk has all its steps.
  TILE_DEVICE bool has(Index first, int s, Index end) const {
    return kChunksAreWhole || place(first, s) < end;
  }

  TILE_DEVICE void load(Vector (&x)[kSteps], Index first, Index end) const {
    if (kChunksAreWhole && first >= end) return;
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      if (kComputesAlways) {
        x[s].load(p, row, vector(place(first, s)), has(first, s, end));
      } else if (has(first, s, end)) {
        x[s].load(p, row, vector(place(first, s)));
      }
    }
  }

  // Folds the thread's part of its rows. `Loaded` is a parameter since only some vectors have the
  // fold below a maximum.
  template <class Pass, class Loaded = Vector>
  TILE_DEVICE void fold(const Vector (&vectors)[kSteps], const Results (&r)[kAcross],
                        Pass (&total)[kAcross]) const {
#if ROWS_IN_REGISTERS
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      if (kComputesAlways || has(0, s, count))
        vectors[s].fold(p, row, vector(place(0, s)), r, total);
    }
#else
    constexpr int kVectors = Pass::kRescales ? kSteps : kChain;  // per maximum, or per chain
    Running<Pass> running;
    Index chain = 0;
    for (Index first = 0; first < count; ++chain) {
      Pass part[kAcross];
      for (int n = 0; n < kVectors && first < count; n += kSteps, first += kChunk) {
        Loaded x[kSteps];
        load(x, first, count);
#pragma unroll
        for (int s = 0; s < kSteps; ++s) {
          if (kComputesAlways || has(first, s, count))
            x[s].fold(p, row, vector(place(first, s)), r, part);
        }
        if constexpr (Pass::kRescales) {
#pragma unroll
          for (int s = 0; s < kSteps; ++s) {
            if (kComputesAlways || has(first, s, count)) {
              x[s].fold(p, row, vector(place(first, s)), r, part, Below());
            }
          }
        }
      }
      running.add(part, chain);
    }
    running.get(total);
#endif
  }

  template <class Pass>
  TILE_DEVICE void reduce(const Vector (&vectors)[kSteps], Results (&r)[kAcross]) {
    Pass total[kAcross] = {Pass()};
    fold(vectors, r, total);
    reduce_group<kRowThreadsOfWarp, kThreadStride>(total, rank, next_slots());
#pragma unroll
    for (int e = 0; e < kAcross; ++e) total[e].finish(p, r[e]);
  }
  template <class... Passes>
  TILE_DEVICE void reduce_all(List<Passes...>, const Vector (&vectors)[kSteps],
                              Results (&r)[kAcross]) {
    (reduce<Passes>(vectors, r), ...);
  }

  // Adds up the totals of the thread's vectors in a chunk, by parts.
  TILE_DEVICE void add_up(Vector (&x)[kSteps], Index first, Index end, const Results (&r)[kAcross],
                          Scans (&a)[kParts][kAcross]) const {
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      if (kComputesAlways || has(first, s, end)) {
#ifdef HOLDS_VALUES
        x[s].hold_values(p, row, vector(place(first, s)));
#endif
        x[s].fold(p, row, vector(place(first, s)), r, a[kInTurns ? s : 0]);
      }
    }
  }

  // Scans the chunk with number `chunk`; the first has number 0.
  TILE_DEVICE void scan_chunk(Vector (&x)[kSteps], Index chunk, Index first, Index end,
                              Results (&r)[kAcross]) {
    Parts<Scans, kParts, kAcross> parts;
    auto& a = parts.at;
    Scans all[kAcross];
    add_up(x, first, end, r, a);
    if constexpr (kAlone) {  // nothing lies before its vectors
#pragma unroll
      for (int e = 0; e < kAcross; ++e) {
        all[e] = a[0][e];
        a[0][e] = Scans();
      }
    } else {
      scan_group<kRowThreadsOfWarp, kThreadStride>(a, all, rank, next_slots());
    }
#if SCANS_GIVE_RESULTS
#pragma unroll
    for (int e = 0; e < kAcross; ++e) all[e].finish(p, r[e]);
#endif
#if !ROWS_IN_REGISTERS
    Carried& carried = carried_of(shared, group);
#pragma unroll
    for (int n = 0; n < kParts * kAcross; ++n) {
      Scans& x = a[n / kAcross][n % kAcross];
      x = joined(carried.value[chunk % 2][n % kAcross], x);
    }
    if (rank == 0) {
      Scans(&after)[kAcross] = carried.value[(chunk + 1) % 2];
      if constexpr (kLevels > 1) {
        carried.running.add(all, chunk);
        carried.running.get(after);
      } else {
#pragma unroll
        for (int e = 0; e < kAcross; ++e) after[e] = joined(carried.value[chunk % 2][e], all[e]);
      }
    }
#endif
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      if (active && has(first, s, end)) {
        x[s].map(p, row, vector(place(first, s)), r, a[kInTurns ? s : 0]);
      }
    }
  }

#if !ROWS_IN_REGISTERS
  // Scans the places from `begin` to `end`; `before` is the total of those before them. If blocks
  // share rows, the first chunk is in `x`.
  TILE_DEVICE void scan(Vector (&x)[kSteps], Index begin, Index end, Results (&r)[kAcross],
                        const Scans (&before)[kAcross]) {
    if (rank == 0) {  // the others see it after the threads' barrier
      Carried& carried = carried_of(shared, group);
      if constexpr (kLevels > 1) carried.running = Running<Scans>();
#pragma unroll
      for (int e = 0; e < kAcross; ++e) {
        if constexpr (kLevels > 1) carried.running.part[kLevels - 1][e] = before[e];
        carried.value[0][e] = before[e];
      }
    }
    // Each turn loads a chunk and scans the previous one.
    Index chunk = kSplits > 1 ? 1 : 0;
    for (Index first = begin + chunk * kChunk; first < end + kChunk; first += kChunk, ++chunk) {
      Vector next[kSteps];
      load(next, first, end);
      if (chunk > 0) scan_chunk(x, chunk - 1, first - kChunk, end, r);
#pragma unroll
      for (int s = 0; s < kSteps; ++s) x[s] = next[s];
    }
  }
#endif

#if SPLITS_ROWS
  // Writes the total of the places from `begin` to `end` to memory. It goes backwards from the end,
  // so that the data with which the second kernel begins is still in the cache.
  TILE_DEVICE void leave_total(u32 row_index, int split, Index begin, Index end) {
    Running<Scans> running;
    const Results none[kAcross] = {};
    const Index chunks = (end - begin + kChunk - 1) / kChunk;
    for (Index chunk = 0; chunk < chunks; ++chunk) {
      const Index first = begin + (chunks - 1 - chunk) * kChunk;
      Vector x[kSteps];
      load(x, first, end);
      Scans part[kAcross];
#pragma unroll
      for (int s = 0; s < kSteps; ++s) {
        if (kComputesAlways || has(first, s, end))
          x[s].fold(p, row, vector(place(first, s)), none, part);
      }
      running.add(part, chunk);
    }
    Scans total[1][kAcross], all[kAcross];
    running.get(total[0]);
    scan_group<kRowThreadsOfWarp, kThreadStride>(total, all, rank, next_slots());
    if (rank != 0 || !active) return;
    for (int e = 0; e < kAcross; ++e) partial(p, row_index, e, split) = all[e];
  }

  // The total of the splits before `split`.
  TILE_DEVICE void total_before(u32 row_index, int split, Scans (&all)[kAcross]) {
    Scans total[1][kAcross];
    for (int i = rank; i < split; i += kRowThreads) {
#pragma unroll
      for (int e = 0; e < kAcross; ++e) total[0][e].combine(partial(p, row_index, e, i));
    }
    scan_group<kRowThreadsOfWarp, kThreadStride>(total, all, rank, next_slots());
  }
#endif
};

// The parts of a row that blocks share are whole chunks, equally many each.
TILE_DEVICE Index split_length(Index count) {
  const Index chunks = (count + kChunk - 1) / kChunk;
  return (chunks + kSplits - 1) / kSplits * kChunk;
}

struct Block {
  u32 index;  // of the thread's rows, clamped: all threads must reach the barriers
  int split;
  Index begin, end;
  Thread thread;

  TILE_DEVICE static Block of(const Params& p, Shared& shared) {
    const int rank = kAlong ? threadIdx.x % kRowThreads : threadIdx.x / kGroups;
    const int group = kAlong ? threadIdx.x / kRowThreads : threadIdx.x % kGroups;
    const u32 wanted = blockIdx.x / kSplits * kGroups + group, total = u32(p.total);
    const u32 index = kBlocksAreWhole || wanted < total ? wanted : total - 1;
    const int split = blockIdx.x % kSplits;
    const Index count = row_length(p), length = kSplits > 1 ? split_length(count) : count;
    const Index begin = Index(split) * length < count ? Index(split) * length : count;
    const Index end = count - begin < length ? count : begin + length;
    return {
        index, split, begin, end,
        Thread{p, shared, row_at(p, index), count, rank, group, kBlocksAreWhole || wanted < total}};
  }
};

extern "C" __global__ void __launch_bounds__(kThreads)
    KERNEL_NAME(const __grid_constant__ Params p) {
  __shared__ Shared shared;
  follow_previous_kernel();
  Block block = Block::of(p, shared);
#if SPLITS_ROWS
  block.thread.leave_total(block.index, block.split, block.begin, block.end);
#else
  Vector x[kSteps];
  Results r[kAcross];
#if ROWS_IN_REGISTERS
  block.thread.load(x, 0, block.end);
#endif
  block.thread.reduce_all(PassList(), x, r);
#if ROWS_IN_REGISTERS
  block.thread.scan_chunk(x, 0, 0, block.end, r);
#else
  const Scans nothing[kAcross] = {};
  block.thread.scan(x, 0, block.end, r, nothing);
#endif
  if constexpr (kRowOutputs) {
    if constexpr (kRowsInPlace) __syncthreads();  // other threads still read them
    if (block.thread.rank == 0 && block.thread.active) store_row(p, block.thread.row, r);
  }
#endif
}

#if SPLITS_ROWS
// 768 threads have registers for two chunks of a row. By itself, ptxas 13.0 assumes 1024 threads,
// for which it spills.
enum : int { kBlocksAtOnce = kAlong && kCombineThreads < 768 ? 768 / kCombineThreads : 1 };
extern "C" __global__ void __launch_bounds__(kCombineThreads, kBlocksAtOnce)
    KERNEL_NAME_COMBINE(const __grid_constant__ Params p) {
  __shared__ Shared shared;
  follow_previous_kernel();
  Block block = Block::of(p, shared);
  Results none[kAcross];
  Vector x[kSteps];
  block.thread.load(x, block.begin, block.end);
  Scans before[kAcross];
  block.thread.total_before(block.index, block.split, before);
  block.thread.scan(x, block.begin, block.end, none, before);
}
#endif
