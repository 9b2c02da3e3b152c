// Shared memory of an attention: where things lie, the rings of stages between its warps, and what
// each stage has.
#pragma once

#include "tile/odd_values.cuh"
#include "tile/pipeline.cuh"

namespace tile {

// Where things lie, in bytes: Q, K and V, outputs of each warp on their way, and what the rings
// need. Work as in tile/warpgroup_attention.cuh.
template <class Work>
struct AttentionMemory {
  static constexpr u32 kOfK = Work::kStagesOfQ * Work::SharedQ::kBytes;
  static constexpr u32 kOfV = kOfK + Work::kStages * Work::SharedK::kBytes;
  static constexpr u32 kOfSums = kOfV + Work::kStages * Work::SharedV::kBytes;
  static constexpr u32 kOfBarriers = kOfSums + Work::kConsumers * 4 * Work::Finish::kBytes;
};

// In shared memory: the barriers of Q, K, V and checks;
// the keys with odd values of each check; what the stages of K have, then those of V.
template <class Work>
struct AttentionRings {
  using RingOfQ = Pipeline<Work::kStagesOfQ>;
  using Ring = Pipeline<Work::kStages>;
  using RingOfChecks = Pipeline<2>;
  using Odd = OddValues<Work>;
  static constexpr bool kHasChecks = Work::kChecks != Checks::none;
  static constexpr int kCheckers = 3;  // warps
  // What a stage has: the first key, a multiple of 32, and these bits (kLast: of the tile); or the
  // end.
  static constexpr i32 kMasked = 1, kLast = 2, kEnd = -1;

  struct States {
    typename RingOfQ::State q;
    typename Ring::State k, v;
    typename RingOfChecks::State checks;
  };

  RingOfQ q;
  Ring k, v;
  RingOfChecks checks;
  u32 odd_keys, notes;
  TILE_DEVICE explicit AttentionRings(u32 start)
      : q{start},
        k{q.barriers + RingOfQ::kBytes},
        v{k.barriers + Ring::kBytes},
        checks{v.barriers + Ring::kBytes},
        odd_keys(checks.barriers + RingOfChecks::kBytes),
        notes(odd_keys + 2 * Odd::kBytes) {}

  TILE_DEVICE void init() const {
    q.init(1, Work::kConsumers);
    k.init(1, Work::kConsumers);
    v.init(1, Work::kConsumers + (kHasChecks ? kCheckers : 0));
    checks.init(Odd::kFinders, Work::kConsumers * 4);
  }

  // What the stages of K have, and behind them those of V.
  static TILE_DEVICE void note(u32 notes, typename Ring::State state, i32 what) {
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(notes + 4 * state.stage), "r"(what) : "memory");
  }
  static TILE_DEVICE i32 noted(u32 notes, typename Ring::State state) {
    i32 what;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(what) : "r"(notes + 4 * state.stage) : "memory");
    return __shfl_sync(0xffffffffu, what, 0);
  }
  // Whether values of a block with that note are checked.
  static TILE_DEVICE bool is_checked(i32 what) {
    return Work::kChecks == Checks::all || (kHasChecks && (what & kMasked) != 0);
  }
  TILE_DEVICE u32 notes_of_k() const { return notes; }
  TILE_DEVICE u32 notes_of_v() const { return notes + 4 * Work::kStages; }
};

}  // namespace tile
