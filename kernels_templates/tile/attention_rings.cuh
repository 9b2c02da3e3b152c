// Shared memory of an attention: where things lie, and the rings of stages between its warps.
#pragma once

#include "tile/key_blocks.cuh"
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
  static constexpr u32 kOfWindows = kOfSums + Work::kConsumers * 4 * Work::Finish::kBytes;
};

// In shared memory: windows of the mask; the barriers of Q, K, V and checks; the keys with odd
// values of each check.
template <class Work>
struct AttentionRings {
  using RingOfQ = Pipeline<Work::kStagesOfQ>;
  using Ring = Pipeline<Work::kStages>;
  using RingOfChecks = Pipeline<2>;
  using Odd = OddValues<Work>;
  static constexpr bool kHasChecks = Work::kChecks != Checks::none;
  static constexpr int kCheckers = Odd::kFinders / 32;  // warps

  struct States {
    typename RingOfQ::State q;
    typename Ring::State k, v;
    typename RingOfChecks::State checks;
  };

  WindowRing windows;
  RingOfQ q;
  Ring k, v;
  RingOfChecks checks;
  u32 odd_keys;
  TILE_DEVICE explicit AttentionRings(u32 start)
      : windows{start},
        q{start + (Work::kHasMask ? WindowRing::kBytes : 0)},
        k{q.barriers + RingOfQ::kBytes},
        v{k.barriers + Ring::kBytes},
        checks{v.barriers + Ring::kBytes},
        odd_keys(checks.barriers + RingOfChecks::kBytes) {}

  TILE_DEVICE void init() const {
    // Of windows the producer, the checkers, and each warp that multiplies.
    if constexpr (Work::kHasMask)
      windows.ring().init(1, 1 + (kHasChecks ? kCheckers : 0) + 4 * Work::kConsumers);
    q.init(1, Work::kConsumers);
    k.init(1, Work::kConsumers);
    v.init(1, Work::kConsumers + (kHasChecks ? kCheckers : 0));
    checks.init(Odd::kFinders, Work::kConsumers * 4);
  }

  // Whether values of the block are checked.
  static TILE_DEVICE bool is_checked(const KeyBlock& block) {
    return Work::kChecks == Checks::all || (kHasChecks && block.is_masked);
  }
};

}  // namespace tile
