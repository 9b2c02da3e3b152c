// Reductions of odd columns, and formulas that use their results: what fused_rows.cu computes if a
// row of memory may begin anywhere within 16 bytes. A strip of kColumns columns is held in shared
// memory by kCluster blocks, so each element is read once.
// Rows of memory that are a vector's elements apart begin alike within a vector, whatever their
// length. A thread takes such rows only, so all of its vectors are aligned, and their elements
// belong to the same columns. To which columns depends on the thread, and matters only where
// threads combine their accumulators: each leaves these at the places of its columns.
// Sectors that two blocks store in parts are slow. So in each row of memory a strip ends with a
// whole sector, and the next one goes on from there; the columns of such a sector, which some rows
// store with one strip and others with the next, are reduced by both.
// Blocks take one strip after another. While a strip is reduced and stored, the next one's vectors
// are on their way to the places of those that threads have taken to registers, or have stored.
// The plan alone decides the order in which accumulators are combined, so the result has the same
// bits in every run.
#include "plan.cuh"  // generated: constants, Params, Row, Results, the passes, Vector, bring

enum : int { kWarps = kThreads / 32, kSteps = kRegisterVectors };
enum : int { kSlots = 32 * kVector };  // columns of a warp's vectors
using Slots = ColumnSlots<kVector>;

struct Shared {
  alignas(16) unsigned char of_warps[kWarps * Slots::kCount * kPassBytes];
  alignas(16) unsigned char results[Slots::kCount * kPassBytes];
#if USES_CLUSTER
  ClusterReduction<kCluster, kSlots, kPassBytes> cluster;
#endif
};
static_assert(sizeof(Shared) <= kSharedBytes, "the host makes room");

// One thread's view of a strip.
struct Thread {
  const Params& p;
  Row row;
  int warp, lane, first;  // the warp's first row

  TILE_DEVICE static Thread of(const Params& p, u32 index) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    Thread self{p, row_at(p, index), warp, lane,
                int(blockIdx.x % kCluster) * (kSteps * kWarps) + warp};
    place(p, self.row, self.first, lane);
    return self;
  }

  // The column of the strip to which element e of the thread's vectors belongs.
  TILE_DEVICE int column(int e) const { return row.column + e; }
  TILE_DEVICE bool has(int s) const {
    return kWholeSteps == kSteps || first + s * kWarps < row_length(p);
  }
  // Whether some of its elements are reduced, and stored.
  TILE_DEVICE bool shares() const { return row.column > -kVector && row.column < row.columns; }
  TILE_DEVICE bool stores() const { return row.begin < kVector && row.end > 0; }

  // Calls f(s, vector) for each vector of the thread, of which `held` are in registers.
  template <class F>
  TILE_DEVICE void for_each(const Vector* held, F f) const {
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      if (!has(s)) continue;
      if (s < kHeldVectors) {
        f(s, held[s]);
      } else {
        Vector x;
        x.load(p, row, s);
        f(s, x);
      }
    }
  }

  template <class Pass>
  TILE_DEVICE void combine(Pass (&a)[kAcross], Shared& shared, u32 n) const {
    Pass* const of_warps = reinterpret_cast<Pass*>(shared.of_warps);
    Pass* const results = reinterpret_cast<Pass*>(shared.results);
#pragma unroll
    for (int e = 0; e < kVector; ++e) {
      const int c = column(e);
      if (c >= 0) of_warps[warp * Slots::kCount + Slots::of(c)] = a[e];
    }
    __syncthreads();
    for (int c = threadIdx.x; c < kSlots; c += kThreads) {
      const Pass x = value_of_warps<kWarps, Slots::kCount>(Slots::of(c), of_warps);
#if USES_CLUSTER
      for (int to = 0; to < kCluster; ++to) shared.cluster.send(to, c, x, n);
#else
      results[Slots::of(c)] = x;
#endif
    }
#if USES_CLUSTER
    shared.cluster.template wait<Pass>(n);
    for (int c = threadIdx.x; c < kSlots; c += kThreads)
      results[Slots::of(c)] = shared.cluster.template result<Pass>(c, n);
#endif
    __syncthreads();
#pragma unroll
    for (int e = 0; e < kVector; ++e) {
      const int c = column(e);
      a[e] = c >= 0 ? results[Slots::of(c)] : Pass();
    }
  }

  template <class Pass>
  TILE_DEVICE void reduce(Vector* held, Results (&r)[kAcross], Shared& shared, u32 n) const {
    Pass total[kAcross];
    keep_packed(held);
    for_each(held, [&](int s, const Vector& x) { x.fold(p, row, s, r, total); });
    combine(total, shared, n);
#pragma unroll
    for (int e = 0; e < kAcross; ++e) total[e].finish(p, r[e]);
  }
  // All reductions of a strip. The first is the kernel's reduction n.
  template <class... Passes>
  TILE_DEVICE void reduce_all(List<Passes...>, Vector* held, Results (&r)[kAcross], Shared& shared,
                              u32 n) const {
    (reduce<Passes>(held, r, shared, n++), ...);
  }

  // Keeps what is made of the vectors in one pass from taking registers until the next.
  static TILE_DEVICE void keep_packed(Vector* held) {
#pragma unroll
    for (int s = 0; s < kHeldVectors; ++s) pin(reinterpret_cast<Words*>(held)[s].of);
  }
  struct Words {
    u32 of[sizeof(Vector) / 4];
  };
};

extern "C" __global__ void __launch_bounds__(kThreads)
#if USES_CLUSTER
    __cluster_dims__(kCluster, 1, 1)
#endif
        KERNEL_NAME(const __grid_constant__ Params p) {
  Shared& shared = *reinterpret_cast<Shared*>(staging + kStagedBytes);
  follow_previous_kernel();
#if USES_CLUSTER
  shared.cluster.init_barriers();
  cluster_arrive();
#endif
  const u32 total = u32(p.total), step = gridDim.x / kCluster;
  u32 index = blockIdx.x / kCluster;
  Thread self = Thread::of(p, index);
  for (int s = 0; s < kSteps; ++s) {
    if (self.shares() && self.has(s)) bring(p, self.row, s);
  }
#if USES_CLUSTER
  cluster_wait();  // all blocks have begun, and their barriers are ready
#endif
  for (u32 n = 0; index < total; n += kReductions) {
    async_copy_commit();
    async_copy_wait<0>();  // each thread takes what it has brought itself
    index += step;
    const Thread next = Thread::of(p, index < total ? index : total - 1);
    const bool brings = index < total && next.shares();
    Vector held[kHeldVectors > 0 ? kHeldVectors : 1];
#pragma unroll
    for (int s = 0; s < kHeldVectors; ++s) {
      if (self.has(s)) held[s].load(p, self.row, s);
    }
    Thread::keep_packed(held);
#pragma unroll
    for (int s = 0; s < kHeldVectors; ++s) {
      if (brings && next.has(s)) bring(p, next.row, s);
    }
    Results r[kAcross];
    self.reduce_all(PassList(), held, r, shared, n);
    Thread::keep_packed(held);
    const auto bring_behind = [&](int s) {
      if (s >= kHeldVectors && brings) bring(p, next.row, s);
    };
    // One condition around all vectors: what they have in common is computed once.
    if (self.stores()) {
      self.for_each(held, [&](int s, const Vector& x) {
        x.map(p, self.row, s, r);
        bring_behind(s);
      });
    } else {
      self.for_each(held, [&](int s, const Vector&) { bring_behind(s); });
    }
    self.row = next.row;
  }
}
