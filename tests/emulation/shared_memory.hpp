// Shared memory of the blocks of a cluster, by addresses of 32 bits as the device has them.
#pragma once

#include <cstring>

#include "fibers.hpp"

namespace emulation {

inline constexpr std::size_t kMostBlocks = 16;
/// Where a block's dynamic shared memory ends; behind it, bytes that nobody may write; and what
/// kernels declare.
inline constexpr std::size_t kSharedBytes = 232448, kGuard = 1024,
                             kDeclared = kSharedBytes + kGuard, kAllBytes = kDeclared + 65536;
/// Of each block of the running cluster.
alignas(1024) inline unsigned char shared_memory[kMostBlocks][(kAllBytes + 1023) / 1024 * 1024];
inline constexpr unsigned char kUnknown = 0xee;  // bytes that mean nothing

/// An address of shared memory of block `rank`. Without this, it is one of the own block.
inline constexpr unsigned kOfRank = 1u << 24;
inline unsigned address_in_block(unsigned address, unsigned rank) {
  if (rank >= Cluster::running->blocks()) fail("an address in a block that the cluster lacks");
  return address % kOfRank + (rank + 1) * kOfRank;
}
inline std::size_t rank_of(unsigned address) {
  return address < kOfRank ? Cluster::running->rank() : address / kOfRank - 1;
}
/// The address of the running thread, as every thread of the cluster may say it.
inline unsigned of_cluster(unsigned address) {
  return address_in_block(address, static_cast<unsigned>(rank_of(address)));
}

/// The block's dynamic shared memory.
inline unsigned char* block_memory() {
  return shared_memory[Cluster::running->rank()];
}
inline unsigned shared_address(const void* p) {
  return static_cast<unsigned>(static_cast<const unsigned char*>(p) - block_memory());
}
inline unsigned char* at_shared(unsigned address, std::size_t bytes = 1) {
  const std::size_t rank = rank_of(address), at = address % kOfRank;
  if (rank >= kMostBlocks || at + bytes > kAllBytes) fail("no address of shared memory");
  if (Cluster::running->has_ended(rank)) fail("shared memory of a block that has ended");
  return shared_memory[rank] + at;
}
template <class T>
T from_shared(unsigned address) {
  T x;
  std::memcpy(&x, at_shared(address, sizeof x), sizeof x);
  return x;
}
template <class T>
void to_shared(unsigned address, const T& x) {
  std::memcpy(at_shared(address, sizeof x), &x, sizeof x);
}

/// What a kernel declares lies at the same place in every block, in the order of first use.
inline unsigned launches = 0;
inline std::size_t declared_end = kDeclared;
template <class T, int kNumber>
T& declared() {
  static std::size_t place = 0;
  static unsigned launch = 0;
  if (std::exchange(launch, launches) != launches) {
    place = (declared_end + 127) / 128 * 128;
    declared_end = place + sizeof(T);
    if (declared_end > kAllBytes) fail("more shared memory than a block has");
  }
  return *reinterpret_cast<T*>(block_memory() + place);
}

}  // namespace emulation
