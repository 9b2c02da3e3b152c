// Computes the same as fused_rows.cu and fused_scan.cu with as little code as possible. This build
// is launched until theirs has been compiled (CompileEffort::tiered). Whatever takes much compile
// time is written once. One loop over elements serves all passes over a row: those that reduce, the
// one that totals what is scanned, and the one that stores. One loop over lanes serves every
// exchange between them. Nothing is held in registers or unrolled, and each row has one block.
// Lanes take every kLanes-th element of a row; in scans, each lane takes neighbouring elements.
#include "plan.cuh"  // generated: constants, Params, Row, Results, the stages, Vector, Passes

constexpr int kGroups = kThreads / kLanes;     // groups of lanes in a block
constexpr int kStride = kAlong ? 1 : kGroups;  // from one lane's thread to the next lane's

static_assert(kThreads * sizeof(Passes) <= 48 * 1024, "the host counts them");
struct alignas(16) Shared {
  unsigned char slots[kThreads * sizeof(Passes)];
};

// Combines the lanes' `part`s of a row. Afterwards, each lane's slot holds the combination of all
// lanes up to and including it.
TILE_DEVICE void combine_lanes(int pass, int lane, Passes part, Passes* own) {
  *own = part;
#pragma unroll 1
  for (int distance = 1; distance < kLanes; distance *= 2) {
    __syncthreads();
    Passes before = own[lane >= distance ? -distance * kStride : 0];
    __syncthreads();
    if (lane < distance) continue;
    before.combine(pass, part);
    *own = part = before;
  }
  __syncthreads();
}

extern "C" __global__ void __launch_bounds__(kThreads)
    KERNEL_NAME(const __grid_constant__ Params p) {
  __shared__ Shared shared;
  follow_previous_kernel();
  const int lane = kAlong ? threadIdx.x % kLanes : threadIdx.x / kGroups;
  const int group = kAlong ? threadIdx.x / kLanes : threadIdx.x % kGroups;
  const u32 index = blockIdx.x * kGroups + group, total = u32(p.total);
  const bool active = index < total;  // others run too, so that all reach the barriers
  const Row row = row_at(p, active ? index : total - 1);
  const Index count = row_length(p), length = (count + kLanes - 1) / kLanes;
  const Index first = kScans ? lane * length : lane, step = kScans ? 1 : kLanes;
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
    combine_lanes(pass, lane, part, own);
    if (pass < kStages) own[(kLanes - 1 - lane) * kStride].finish(pass, p, r[0]);
    part = Passes();
    if (kScans && pass == kStages && lane > 0) part = own[-kStride];  // the total before this lane
    __syncthreads();
  }
  if constexpr (kRowOutputs) {
    if constexpr (kRowsInPlace) __syncthreads();  // other lanes still read them
    if (lane == 0 && active) store_row(p, row, r);
  }
}
