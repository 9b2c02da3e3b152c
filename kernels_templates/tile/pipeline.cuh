// A ring of stages in shared memory between threads that fill them and threads that use them, from
// sm_90 on. Each stage has two barriers: `full` ends a phase when the stage's data has arrived,
// `empty` when all consumers have released it.
//
//   producer                                   consumer
//   pipeline.acquire(state);                   pipeline.wait(state);
//   pipeline.expect(state, bytes);             ... use the stage
//   load_tile(..., pipeline.full(state), ...)  pipeline.release(state);
//   state.advance();                           state.advance();
//
// Every role has a state of its own, and all begin with the same one.
#pragma once

#include "tile/mbarrier.cuh"

namespace tile {

// A stage of the ring, and the parity of its phase.
template <int kStages>
struct PipelineState {
  u32 stage = 0, phase = 0;

  TILE_DEVICE void advance() {
    if (++stage == kStages) {
      stage = 0;
      phase ^= 1;
    }
  }
  TILE_DEVICE void advance(u32 stages) {
    stage += stages;
    phase ^= stage / kStages % 2;
    stage %= kStages;
  }
};

template <int kStages>
struct Pipeline {
  using State = PipelineState<kStages>;
  static constexpr u32 kBytes = 16 * kStages;  // of shared memory, aligned to 8

  u32 barriers;  // their shared address: full of each stage, then empty of each stage

  // `producers` arrivals fill a stage, `consumers` arrivals release it. One thread calls this
  // before the next barrier of the block or the cluster. If a stage is written to several blocks of
  // a cluster, the consumers of all of them count.
  TILE_DEVICE void init(u32 producers, u32 consumers) const {
    for (u32 stage = 0; stage < kStages; ++stage) {
      mbarrier_init(barriers + 8 * stage, producers);
      mbarrier_init(barriers + 8 * (kStages + stage), consumers);
    }
    mbarrier_fence_init();
  }

  TILE_DEVICE u32 full(State state) const { return barriers + 8 * state.stage; }
  TILE_DEVICE u32 empty(State state) const { return barriers + 8 * (kStages + state.stage); }

  // Waits until the stage may be overwritten. Passes at once in the first round.
  TILE_DEVICE void acquire(State state) const { mbarrier_wait(empty(state), state.phase ^ 1); }
  // One arrival, and the bytes that copies will bring. Bytes of whole boxes count, also of parts
  // outside the tensor; and all that arrive here from other blocks.
  TILE_DEVICE void expect(State state, u32 bytes) const {
    mbarrier_arrive_expect(full(state), bytes);
  }
  // One arrival of a thread that has written its part of the stage itself.
  TILE_DEVICE void commit(State state) const { mbarrier_arrive(full(state)); }

  // Waits until the stage has been filled.
  TILE_DEVICE void wait(State state) const { mbarrier_wait(full(state), state.phase); }
  // One arrival: this consumer has read the stage, for products after their wait. `rank` is the
  // block of the cluster that may overwrite it.
  TILE_DEVICE void release(State state) const { mbarrier_arrive(empty(state)); }
  TILE_DEVICE void release_in_block(State state, u32 rank) const {
    mbarrier_arrive_in_block(empty(state), rank);
  }

  // A producer's end: waits until every stage has been released, so that no block of a cluster ends
  // while another one still arrives at its barriers. `state` is the one after the last.
  TILE_DEVICE void drain(State state) const {
    for (int i = 0; i < kStages; ++i) {
      acquire(state);
      state.advance();
    }
  }
};

}  // namespace tile
