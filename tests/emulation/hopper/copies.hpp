// Copies that nobody executes (PTX ISA, "cp.async.bulk" and "st.async"), for the CPU. Until they
// land, at a random time, their bytes in shared memory mean nothing.
#pragma once

#include <deque>

#include "../elements.hpp"
#include "barriers.hpp"
#include "tensor_map.hpp"

namespace emulation {

/// Where a byte lies that would be at `address` without the swizzle.
inline unsigned swizzled(unsigned address, unsigned row_bytes) {
  const unsigned chunks = row_bytes < 32 ? 0 : row_bytes / 16 - 1;
  return address ^ (address >> 7 & chunks) << 4;
}

/// Lands `bytes` at `to` by calling `land`; then `barrier` counts them.
template <class Land>
void land_later(unsigned to, unsigned bytes, unsigned barrier, Land land) {
  std::memset(at_shared(to, bytes), kUnknown, bytes);
  (void)mbarrier_at(barrier);
  Cluster::running->later([=] {
    land();
    mbarrier_complete(barrier, bytes);
  });
}
inline void copy_bulk(unsigned to, const void* from, unsigned bytes, unsigned barrier) {
  if (to % 16 != 0 || bytes % 16 != 0 || reinterpret_cast<std::uintptr_t>(from) % 16 != 0) {
    fail("a bulk copy that is not aligned to 16 bytes");
  }
  to = of_cluster(to);
  land_later(to, bytes, of_cluster(barrier),
             [=] { std::memcpy(at_shared(to, bytes), from, bytes); });
}

/// st.async
template <class T>
void send(unsigned to, const T& x, unsigned barrier) {
  if (to < kOfRank || barrier / kOfRank != to / kOfRank) fail("a barrier of another block");
  land_later(to, sizeof x, barrier, [=] { to_shared(to, x); });
}

/// A box of a tensor on its way to or from shared memory.
template <std::size_t kRank>
struct BoxCopy {
  TensorMap map;
  std::array<int, kRank> at;

  void check(unsigned shared) const {
    if (map.modes != kRank) fail("a box with another number of modes than its tensor map");
    const unsigned align = map.swizzle_bytes == 0 ? 128 : 8 * map.swizzle_bytes;
    if (shared % align != 0) fail("a box that is not aligned in shared memory");
  }
  [[nodiscard]] unsigned bytes() const {
    unsigned count = map.element_bytes;
    for (std::size_t i = 0; i < kRank; ++i) count *= map.boxes[i];
    return count;
  }
  /// Calls visit(shared address, address of memory or null) for each element.
  template <class Visit>
  void each(unsigned shared, const Visit& visit) const {
    std::array<unsigned, kRank> place = {};
    for (unsigned to = shared; to < shared + bytes(); to += map.element_bytes) {
      unsigned char* from = map.address;
      bool inside = true;
      for (std::size_t i = 0; i < kRank; ++i) {
        const std::int64_t coordinate = std::int64_t{at[i]} + place[i];
        inside = inside && coordinate >= 0 && coordinate < map.extents[i];
        from += coordinate * map.strides[i];
      }
      visit(swizzled(to, map.swizzle_bytes), inside ? from : nullptr);
      for (std::size_t i = 0; i < kRank && ++place[i] == map.boxes[i]; ++i) place[i] = 0;
    }
  }
  void land(unsigned shared) const {
    each(shared, [&](unsigned to, const unsigned char* from) {
      if (from == nullptr) {
        std::memset(at_shared(to), 0, map.element_bytes);
      } else if (map.to_tf32) {
        to_shared(to, Tf32::nearest(from));
      } else {
        std::memcpy(at_shared(to), from, map.element_bytes);
      }
    });
  }
};

template <std::size_t kRank>
void load_box(unsigned shared, const TensorMap& map, const int (&at)[kRank], unsigned barrier) {
  BoxCopy<kRank> copy{map, std::to_array(at)};
  copy.check(shared);
  shared = of_cluster(shared);
  land_later(shared, copy.bytes(), of_cluster(barrier), [=] { copy.land(shared); });
}
template <std::size_t kRank>
void load_box_multicast(unsigned shared, const TensorMap& map, const int (&at)[kRank],
                        unsigned barrier, unsigned mask) {
  if (mask >> Cluster::running->blocks() != 0) fail("a copy to a block that the cluster lacks");
  for (unsigned rank = 0; mask >> rank != 0; ++rank) {
    if ((mask >> rank & 1) != 0) {
      load_box(address_in_block(shared, rank), map, at, address_in_block(barrier, rank));
    }
  }
}

/// A box that is stored: shared memory is read at a random time, and at the latest when the thread
/// waits for it.
struct BoxStore {
  std::function<void()> read, write;  // write after read; either may come again
};
/// Groups of stores by thread. The last one is not committed.
inline std::map<std::size_t, std::deque<std::vector<BoxStore>>> stores;
inline std::deque<std::vector<BoxStore>>& own_stores() {
  auto& groups = stores[Cluster::running->self()];
  if (groups.empty()) groups.emplace_back();
  return groups;
}

template <std::size_t kRank>
void store_box(const TensorMap& map, const int (&at)[kRank], unsigned shared) {
  BoxCopy<kRank> copy{map, std::to_array(at)};
  copy.check(shared);
  shared = of_cluster(shared);
  const auto bytes = std::make_shared<std::vector<unsigned char>>();
  const auto read = [=] {
    if (!bytes->empty()) return;
    copy.each(shared, [&](unsigned from, const unsigned char*) {
      bytes->insert(bytes->end(), at_shared(from), at_shared(from) + map.element_bytes);
    });
  };
  const auto written = std::make_shared<bool>(false);
  const auto write = [=] {
    if (std::exchange(*written, true)) return;
    read();
    const unsigned char* from = bytes->data();
    copy.each(shared, [&](unsigned, unsigned char* to) {
      if (to != nullptr) std::memcpy(to, from, map.element_bytes);
      from += map.element_bytes;
    });
  };
  own_stores().back().push_back({read, write});
  Cluster::running->later(read);
  Cluster::running->later(write);
}
inline void store_commit() {
  own_stores().emplace_back();
}
inline void store_wait(std::size_t pending, std::function<void()> BoxStore::*until) {
  auto& groups = own_stores();
  for (std::size_t i = 0; i + pending + 1 < groups.size(); ++i) {
    for (BoxStore& store : groups[i]) (store.*until)();
  }
}

inline const bool forgets_stores = [] {
  forgetting.push_back([] { stores.clear(); });
  return true;
}();

}  // namespace emulation
