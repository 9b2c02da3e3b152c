// Instructions of the device library, for the CPU: functions named after the mnemonics, which take
// the operands as the instruction has them. Kernels' texts call these in place of asm.
#pragma once

#include "device.hpp"
#include "hopper/copies.hpp"

namespace emulation::ptx {

using u32 = unsigned;

inline void ex2_approx_ftz_f32(float& y, float x) {
  y = exp2f(x);
}
inline void tanh_approx_f32(float& y, float x) {
  y = tanhf(x);
}
inline void div_full_f32(float& y, float a, float b) {
  y = a / b;
}

inline void activemask_b32(u32& lanes) {
  lanes = 1u << Block::thread.x % 32;
}
/// Of all lanes, or of this one alone.
inline void shfl_sync_up_b32(u32& y, u32 x, int distance, int, u32 lanes) {
  y = lanes + 1 != 0 ? x : __shfl_up_sync(lanes, x, distance);
}
inline void shfl_sync_down_b32(u32& y, u32 x, int, int, u32 lanes) {
  if (lanes + 1 == 0) fail("shfl.down of all lanes");
  y = x;
}
inline void shfl_sync_bfly_b32(u32& y, u32 x, int mask, int, u32 lanes) {
  y = __shfl_xor_sync(lanes, x, mask);
}
inline void shfl_sync_idx_b32(u32& y, u32 x, int lane, int, u32 lanes) {
  y = __shfl_sync(lanes, x, lane);
}
inline void redux_sync_max_s32(int& most, int x, u32 lanes) {
  most = __reduce_max_sync(lanes, x);
}
inline void redux_sync_min_s32(int& least, int x, u32 lanes) {
  least = __reduce_min_sync(lanes, x);
}
inline void redux_sync_min_u32(u32& least, u32 x, u32 lanes) {
  constexpr u32 kSign = 0x80000000;  // with it the order of signed numbers is that of unsigned ones
  least = static_cast<u32>(__reduce_min_sync(lanes, static_cast<int>(x ^ kSign))) ^ kSign;
}

inline void st_global_v2_b32(void* to, u32 a, u32 b) {
  const u32 words[] = {a, b};
  std::memcpy(to, words, sizeof words);
}
inline void st_global_v4_b32(void* to, u32 a, u32 b, u32 c, u32 d) {
  const u32 words[] = {a, b, c, d};
  std::memcpy(to, words, sizeof words);
}
inline void ld_shared_b32(u32& x, u32 from) {
  x = from_shared<u32>(from);
}
template <class A, class B, class C, class D>
void ld_shared_v4_b32(A& a, B& b, C& c, D& d, u32 from) {
  if (from % 16 != 0) fail("a vector that is not aligned in shared memory");
  a = from_shared<A>(from);
  b = from_shared<B>(from + 4);
  c = from_shared<C>(from + 8);
  d = from_shared<D>(from + 12);
}
inline void st_shared_b32(u32 to, u32 x) {
  to_shared(to, x);
}
template <class A, class B, class C, class D>
void st_shared_v4_b32(u32 to, A a, B b, C c, D d) {
  if (to % 16 != 0) fail("a vector that is not aligned in shared memory");
  const u32 words[] = {static_cast<u32>(a), static_cast<u32>(b), static_cast<u32>(c),
                       static_cast<u32>(d)};
  std::memcpy(at_shared(to, sizeof words), words, sizeof words);
}
inline void red_shared_or_b32(u32 to, u32 x) {
  to_shared(to, from_shared<u32>(to) | x);
}

inline u32 cluster_ctarank() {
  return static_cast<u32>(Cluster::running->rank());
}
inline void mov_u32(u32& to, u32 from) {
  to = from;
}
inline void cp_async_bulk_shared_cluster_global_mbarrier_complete_tx_bytes(u32 to, const void* from,
                                                                           u32 bytes, u32 barrier) {
  copy_bulk(to, from, bytes, barrier);
}

}  // namespace emulation::ptx
