// Barriers of Hopper, for the CPU: those in shared memory that count arrivals and bytes (PTX ISA,
// "mbarrier"), those of some of a block's warps ("bar"), and the one of a cluster.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "../launch.hpp"

namespace emulation {

/// A barrier in shared memory, whose 8 bytes there say that they are one.
struct Mbarrier {
  unsigned count = 0, pending = 0, phase = 0;
  long bytes = 0;              // promised, and not there
  bool was_waited_for = true;  // its last phase

  static constexpr std::uint64_t kMark = 0x6261727269657221;  // what its 8 bytes hold
};

/// By block and address.
inline std::map<std::array<std::size_t, 2>, Mbarrier> mbarriers;

inline void mbarrier_init(unsigned address, unsigned count) {
  if (address % 8 != 0) fail("an mbarrier is not aligned to 8 bytes");
  to_shared(address, Mbarrier::kMark);
  mbarriers[{rank_of(address), address % kOfRank}] = {.count = count, .pending = count};
}
inline Mbarrier& mbarrier_at(unsigned address) {
  if (from_shared<std::uint64_t>(address) != Mbarrier::kMark) fail("memory without an mbarrier");
  return mbarriers.at({rank_of(address), address % kOfRank});
}
inline void end_phase(Mbarrier& barrier) {
  if (barrier.pending != 0 || barrier.bytes != 0) return;
  if (!barrier.was_waited_for) fail("an mbarrier ended two phases while nobody waited");
  barrier.was_waited_for = false;
  barrier.pending = barrier.count;
  ++barrier.phase;
  Cluster::running->wake(&barrier);
}
inline void mbarrier_arrive_expect(unsigned address, unsigned bytes) {
  Mbarrier& barrier = mbarrier_at(address);
  if (barrier.pending == 0) fail("more arrivals than an mbarrier counts");
  --barrier.pending;
  barrier.bytes += bytes;
  end_phase(barrier);
}
inline void mbarrier_arrive(unsigned address) {
  mbarrier_arrive_expect(address, 0);
}
/// Bytes have landed.
inline void mbarrier_complete(unsigned address, unsigned bytes) {
  Mbarrier& barrier = mbarrier_at(address);
  barrier.bytes -= bytes;
  end_phase(barrier);
}
inline void mbarrier_wait(unsigned address, unsigned parity) {
  if (parity > 1) fail("a parity is 0 or 1");
  Mbarrier& barrier = mbarrier_at(address);
  while (barrier.phase % 2 == parity) {
    Cluster::running->sleep(&barrier, {"an mbarrier at %u, parity %u", {address, parity}});
  }
  barrier.was_waited_for = true;
}

struct NamedBarrier {
  unsigned arrived = 0, round = 0, threads = 0;
};
inline NamedBarrier named_barriers[kMostBlocks][16];

/// Returns the round in which it arrived.
inline unsigned named_barrier_arrive(unsigned number, unsigned threads) {
  NamedBarrier& barrier = named_barriers[Cluster::running->rank()][number];
  if (barrier.arrived != 0 && barrier.threads != threads) fail("a barrier with two sizes");
  barrier.threads = threads;
  const unsigned round = barrier.round;
  if (++barrier.arrived == threads) {
    barrier.arrived = 0;
    ++barrier.round;
    Cluster::running->wake(&barrier);
  }
  return round;
}
inline void named_barrier_sync(unsigned number, unsigned threads) {
  const unsigned round = named_barrier_arrive(number, threads);
  const NamedBarrier& barrier = named_barriers[Cluster::running->rank()][number];
  while (barrier.round == round) {
    Cluster::running->sleep(&barrier, {"barrier %u of %u threads", {number, threads}});
  }
}

struct ClusterBarrier {
  std::size_t arrived = 0;
  unsigned round = 0;
  std::map<std::size_t, unsigned> rounds = {};  // of threads that have arrived
};
inline ClusterBarrier cluster_barrier;

/// Threads that have ended do not count.
inline void end_cluster_round() {
  Cluster& cluster = *Cluster::running;
  if (cluster_barrier.arrived + cluster.ended() < cluster.threads()) return;
  cluster_barrier.arrived = 0;
  ++cluster_barrier.round;
  cluster.wake(&cluster_barrier);
}
inline void cluster_arrive() {
  Cluster& cluster = *Cluster::running;
  if (!cluster_barrier.rounds.emplace(cluster.self(), cluster_barrier.round).second) {
    fail("a thread arrives twice at the barrier of its cluster");
  }
  ++cluster_barrier.arrived;
  end_cluster_round();
}
inline void cluster_wait() {
  Cluster& cluster = *Cluster::running;
  const auto own = cluster_barrier.rounds.find(cluster.self());
  if (own == cluster_barrier.rounds.end()) fail("waits for its cluster without having arrived");
  while (cluster_barrier.round == own->second) {
    cluster.sleep(&cluster_barrier, {"the cluster", {}});
  }
  cluster_barrier.rounds.erase(own);
}

inline const bool forgets_barriers = [] {
  forgetting.push_back([] {
    mbarriers.clear();
    std::memset(named_barriers, 0, sizeof named_barriers);
    cluster_barrier = {};
  });
  ending.push_back(end_cluster_round);
  return true;
}();

}  // namespace emulation
