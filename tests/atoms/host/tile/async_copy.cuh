// tile/async_copy.cuh for the CPU: a copy happens when its thread has waited for it, no earlier.
#pragma once

#include <cstring>
#include <deque>
#include <map>
#include <vector>

#include "emulation/device.hpp"
#include "tile/barrier.cuh"

namespace tile {

struct HostCopy {
  u32 to;
  const void* from;
  u32 bytes, valid;
};
/// Groups of copies by thread. The last one is not committed.
inline std::map<std::size_t, std::deque<std::vector<HostCopy>>> host_copies;

inline std::deque<std::vector<HostCopy>>& own_copies() {
  auto& groups = host_copies[emulation::Cluster::running->current()];
  if (groups.empty()) groups.emplace_back();
  return groups;
}

template <int kBytes>
void async_copy_or_zero(u32 to, const void* from, u32 valid) {
  std::memset(memory + to, 0xee, kBytes);  // nothing is known of it until then
  own_copies().back().push_back({to, from, kBytes, valid});
}
inline void async_copy_commit() {
  own_copies().emplace_back();
}
template <int kPending>
void async_copy_wait() {
  auto& groups = own_copies();
  while (groups.size() > kPending + 1) {
    for (const HostCopy& copy : groups.front()) {
      std::memset(memory + copy.to, 0, copy.bytes);
      std::memcpy(memory + copy.to, copy.from, copy.valid);
    }
    groups.pop_front();
  }
}

}  // namespace tile
