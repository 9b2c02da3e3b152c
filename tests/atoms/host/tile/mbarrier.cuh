// tile/mbarrier.cuh for threads of the CPU: what the hardware does, in a mutex. A block of a
// cluster is a number that each thread has.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "tile/types.cuh"

namespace tile {

/// All barriers of a test, by block and address.
class HostBarriers {
 public:
  void clear() { barriers_.clear(); }
  void init(u32 barrier, u32 count) {
    const std::lock_guard lock(mutex_);
    barriers_[{block, barrier}] = {.count = count, .pending = count};
  }
  void arrive(u32 barrier, u32 rank, long promised) {
    const std::lock_guard lock(mutex_);
    State& state = barriers_.at({rank, barrier});
    if (state.pending == 0) throw std::logic_error("more arrivals than the barrier counts");
    --state.pending;
    state.bytes += promised;
    end_phase(state);
  }
  /// Bytes of a copy have landed.
  void complete(u32 barrier, long bytes) {
    const std::lock_guard lock(mutex_);
    State& state = barriers_.at({block, barrier});
    state.bytes -= bytes;
    end_phase(state);
  }
  void wait(u32 barrier, u32 parity) {
    std::unique_lock lock(mutex_);
    const State& state = barriers_.at({block, barrier});
    const auto ended = [&] { return state.phase % 2 != parity; };
    if (!changed_.wait_for(lock, std::chrono::seconds(20), ended)) {
      throw std::runtime_error("a phase did not end");
    }
  }
  /// Whether a wait would return at once.
  bool has_ended(u32 barrier, u32 parity) {
    const std::lock_guard lock(mutex_);
    return barriers_.at({block, barrier}).phase % 2 != parity;
  }

  static inline thread_local u32 block = 0;

 private:
  struct State {
    u32 count = 0, pending = 0, phase = 0;
    long bytes = 0;
  };
  void end_phase(State& state) {
    if (state.pending != 0 || state.bytes != 0) return;
    state.pending = state.count;
    ++state.phase;
    changed_.notify_all();
  }

  std::map<std::pair<u32, u32>, State> barriers_;
  std::mutex mutex_;
  std::condition_variable changed_;
};
inline HostBarriers host_barriers;

inline void mbarrier_init(u32 barrier, u32 count) {
  host_barriers.init(barrier, count);
}
inline void mbarrier_fence_init() {}
inline void mbarrier_arrive(u32 barrier) {
  host_barriers.arrive(barrier, HostBarriers::block, 0);
}
inline void mbarrier_arrive_expect(u32 barrier, u32 bytes) {
  host_barriers.arrive(barrier, HostBarriers::block, bytes);
}
inline void mbarrier_arrive_in_block(u32 barrier, u32 rank) {
  host_barriers.arrive(barrier, rank, 0);
}
inline void mbarrier_wait(u32 barrier, u32 parity) {
  host_barriers.wait(barrier, parity);
}

}  // namespace tile
