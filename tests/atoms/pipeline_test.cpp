// tile/pipeline.cuh itself, run by threads of the CPU over barriers that behave as the device's.
#define __device__
#define __forceinline__ inline
#include "tile/pipeline.cuh"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

namespace {

using tile::host_barriers;
using tile::HostBarriers;
using tile::Pipeline;
using tile::PipelineState;

constexpr int kStages = 3, kSteps = 400;
constexpr unsigned kBytes = 1024;

/// What stages of one block hold: the number of the step.
struct Stages {
  std::array<std::atomic<int>, kStages> value = {};
};

/// Runs each role in a thread of its own, in its block. A role that throws fails the test.
class Roles {
 public:
  template <class Role>
  void start(unsigned block, Role role) {
    threads_.emplace_back([block, role] {
      HostBarriers::block = block;
      try {
        role();
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
    });
  }
  ~Roles() {
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::vector<std::thread> threads_;
};

void pause_a_little(std::mt19937& random) {
  if (random() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 50));
}

TEST(Pipeline, PhasesFlipWhenTheRingWraps) {
  PipelineState<kStages> state;
  for (unsigned i = 0; i < 20; ++i, state.advance()) {
    EXPECT_EQ(state.stage, i % kStages);
    EXPECT_EQ(state.phase, i / kStages % 2);
  }
}

TEST(Pipeline, AStageIsFreeInTheFirstRoundAndThenAfterTheLastRelease) {
  host_barriers.clear();
  const Pipeline<2> ring{0};
  ring.init(1, 2);
  PipelineState<2> state;
  const auto is_free = [&](PipelineState<2> of) {
    return host_barriers.has_ended(ring.empty(of), of.phase ^ 1);
  };
  EXPECT_TRUE(is_free(state));
  EXPECT_FALSE(host_barriers.has_ended(ring.full(state), state.phase));
  ring.expect(state, 10);
  EXPECT_FALSE(host_barriers.has_ended(ring.full(state), state.phase));
  host_barriers.complete(ring.full(state), 10);
  EXPECT_TRUE(host_barriers.has_ended(ring.full(state), state.phase));
  PipelineState<2> next = state;
  next.advance();
  EXPECT_TRUE(is_free(next));
  next.advance();  // the same stage again
  EXPECT_EQ(next.stage, state.stage);
  ring.release(state);
  EXPECT_FALSE(is_free(next));
  ring.release(state);
  EXPECT_TRUE(is_free(next));
}

// Copies may land before or after the promise, in any order.
TEST(Pipeline, ConsumersSeeEveryStepOnceAndNoneIsOverwrittenEarly) {
  host_barriers.clear();
  const Pipeline<kStages> ring{64};
  constexpr int kConsumers = 2;
  ring.init(1, kConsumers);
  Stages stages;
  std::array<std::atomic<int>, kConsumers> read = {};
  {
    Roles roles;
    roles.start(0, [&] {
      std::mt19937 random(1);
      PipelineState<kStages> state;
      for (int step = 0; step < kSteps; ++step, state.advance()) {
        ring.acquire(state);
        for (const auto& of_one : read) EXPECT_GE(of_one, step - kStages + 1);
        ring.expect(state, kBytes);
        pause_a_little(random);
        host_barriers.complete(ring.full(state), kBytes / 4);
        stages.value[state.stage] = step;
        host_barriers.complete(ring.full(state), kBytes - kBytes / 4);
      }
      ring.drain(state);
      for (const auto& of_one : read) EXPECT_EQ(of_one, kSteps);
    });
    for (int consumer = 0; consumer < kConsumers; ++consumer) {
      roles.start(0, [&, consumer] {
        std::mt19937 random(static_cast<unsigned>(2 + consumer));
        PipelineState<kStages> state;
        for (int step = 0; step < kSteps; ++step, state.advance()) {
          ring.wait(state);
          EXPECT_EQ(stages.value[state.stage], step);
          pause_a_little(random);
          ++read[static_cast<std::size_t>(consumer)];
          ring.release(state);
        }
      });
    }
  }
}

// Each block's producer fills half of a stage in both blocks, as a multicast does; consumers
// release it to both.
TEST(Pipeline, WaitsForTheConsumersOfAllBlocksOfACluster) {
  host_barriers.clear();
  constexpr unsigned kBlocks = 2;
  const Pipeline<kStages> ring{0};
  for (const unsigned block : {0u, 1u}) {
    HostBarriers::block = block;
    ring.init(1, kBlocks);
  }
  HostBarriers::block = 0;
  std::array<std::array<Stages, kBlocks>, kBlocks> half;  // [of block][from block]
  {
    Roles roles;
    for (unsigned block = 0; block < kBlocks; ++block) {
      roles.start(block, [&, block] {
        std::mt19937 random(block);
        PipelineState<kStages> state;
        for (int step = 0; step < kSteps; ++step, state.advance()) {
          ring.acquire(state);
          ring.expect(state, kBlocks * kBytes);
          pause_a_little(random);
          for (unsigned to = 0; to < kBlocks; ++to) {
            half[to][block].value[state.stage] = step;
            HostBarriers::block = to;
            host_barriers.complete(ring.full(state), kBytes);
          }
          HostBarriers::block = block;
        }
        ring.drain(state);
      });
      roles.start(block, [&, block] {
        std::mt19937 random(block + 10);
        PipelineState<kStages> state;
        for (int step = 0; step < kSteps; ++step, state.advance()) {
          ring.wait(state);
          pause_a_little(random);
          for (const Stages& from : half[block]) EXPECT_EQ(from.value[state.stage], step);
          for (unsigned to = 0; to < kBlocks; ++to) ring.release_in_block(state, to);
        }
      });
    }
  }
}

}  // namespace
