// Computes the same as fused_rows.cu and fused_scan.cu with as little code as possible. This build
// is launched until theirs has been compiled (CompileEffort::tiered). Whatever takes much compile
// time is written once. One loop over elements serves all passes over a row: those that reduce, the
// one that totals what is scanned, and the one that stores. One loop over threads serves every
// exchange between them. Nothing is held in registers or unrolled, and each row has one block.
// Threads take every kRowThreads-th element of a row; in scans, each thread takes neighbouring
// elements.
#include "plan.cuh"  // generated: constants, Params, Row, Results, the passes, Vector, Passes

enum : int { kGroups = kThreads / kRowThreads };  // groups of threads in a block
enum : int { kStride = kAlong ? 1 : kGroups };    // from one thread of a group to the next

static_assert(kThreads * sizeof(Passes) <= 48 * 1024, "the host counts them");
struct alignas(16) Shared {
  unsigned char slots[kThreads * sizeof(Passes)];
};

// Combines the threads' `part`s of a row. Afterwards, each thread's slot holds the combination of
// all threads up to and including it.
TILE_DEVICE void combine_threads(int pass, int rank, Passes part, Passes* own) {
  *own = part;
#pragma unroll 1
  for (int distance = 1; distance < kRowThreads; distance *= 2) {
    __syncthreads();
    Passes before = own[rank >= distance ? -distance * kStride : 0];
    __syncthreads();
    if (rank < distance) continue;
    before.combine(pass, part);
    *own = part = before;
  }
  __syncthreads();
}

extern "C" __global__ void __launch_bounds__(kThreads)
    KERNEL_NAME(const __grid_constant__ Params p) {
  __shared__ Shared shared;
  follow_previous_kernel();
  const int rank = kAlong ? threadIdx.x % kRowThreads : threadIdx.x / kGroups;
  const int group = kAlong ? threadIdx.x / kRowThreads : threadIdx.x % kGroups;
  const u32 index = blockIdx.x * kGroups + group, total = u32(p.total);
  const bool active = index < total;  // others run too, so that all reach the barriers
  const Row row = row_at(p, active ? index : total - 1);
  const Index count = row_length(p), length = (count + kRowThreads - 1) / kRowThreads;
  const Index first = kScans ? rank * length : rank, step = kScans ? 1 : kRowThreads;
  const Index end = kScans && first + length < count ? first + length : count;
  Passes* const own = reinterpret_cast<Passes*>(shared.slots) + threadIdx.x;
  Passes part;
  Results r[1];
#pragma unroll 1
  for (int pass = 0; pass < kPasses; ++pass) {
    Passes chain;
    int chained = 0;
#pragma unroll 1
    for (Index i = first; i < end; i += step) {
      const Index v = kReverse ? count - 1 - i : i;
      Vector x;
      x.load(p, row, v);
      if (pass == kFolds) {
        if (active) part.map(x, p, row, v, r);
        continue;
      }
      if constexpr (kChain > 0) {  // keeps errors from growing with the row's length
        chain.fold(pass, x, p, row, v, r);
        if (++chained % kChain != 0) continue;
        part.combine(pass, chain);
        chain = Passes();
      } else {
        part.fold(pass, x, p, row, v, r);
      }
    }
    if (pass == kFolds) break;
    if constexpr (kChain > 0) part.combine(pass, chain);
    combine_threads(pass, rank, part, own);
    if (pass < kReductions) own[(kRowThreads - 1 - rank) * kStride].finish(pass, p, r[0]);
    part = Passes();
    if (kScans && pass == kReductions && rank > 0)
      part = own[-kStride];  // the total before this thread
    __syncthreads();
  }
  if constexpr (kRowOutputs) {
    if constexpr (kRowsInPlace) __syncthreads();  // other threads still read them
    if (rank == 0 && active) store_row(p, row, r);
  }
}
