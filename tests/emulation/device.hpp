// CUDA's language, as far as the templates use it, for a C++ compiler. The threads of a block are
// fibers of one thread, which run in random order between the points where they synchronize. This
// usually finds a kernel that reads a value before another thread has written it.
#pragma once

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include <limits>

#include "fibers.hpp"  // found beside this file: kernels include it by its path
#include "half.hpp"

#define threadIdx emulation::Block::thread
#define blockIdx emulation::Block::block
#define gridDim emulation::Block::grid
#define blockDim emulation::Block::extents
#define __device__
#define __constant__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __cluster_dims__(...)
#define __grid_constant__
#define __launch_bounds__(...)

namespace emulation {

inline std::string printed;  // by kernels, whose `printf` this is
[[gnu::format(printf, 1, 2)]] inline void print(const char* format, ...) {
  va_list values;
  va_start(values, format);
  char text[2048];
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  printed += text;
}

}  // namespace emulation
#define printf ::emulation::print

inline void __syncthreads() {
  emulation::Cluster::running->meet();
}
inline void __syncwarp() {
  emulation::Cluster::running->meet_warp();
}

inline int __syncthreads_or(int x) {
  emulation::Cluster& cluster = *emulation::Cluster::running;
  cluster.slot(cluster.current())[0] = x != 0;
  cluster.meet();
  int any = 0;
  for (std::size_t i = 0; i < cluster.threads() / cluster.blocks(); ++i) {
    any |= cluster.slot(i)[0];
  }
  cluster.meet();
  return any;
}

// Threads change places only where they meet.
template <class T>
T atomicAdd(T* at, T x) {
  const T old = *at;
  *at = old + x;
  return old;
}
template <class T>
T atomicMax(T* at, T x) {
  const T old = *at;
  *at = std::max(old, x);
  return old;
}
template <class T>
T atomicMin(T* at, T x) {
  const T old = *at;
  *at = std::min(old, x);
  return old;
}
template <class T>
T atomicAnd(T* at, T x) {
  const T old = *at;
  *at = old & x;
  return old;
}
template <class T>
T atomicOr(T* at, T x) {
  const T old = *at;
  *at = old | x;
  return old;
}
template <class T>
T atomicXor(T* at, T x) {
  const T old = *at;
  *at = old ^ x;
  return old;
}
template <class T>
T atomicExch(T* at, T x) {
  return std::exchange(*at, x);
}
template <class T>
T atomicCAS(T* at, T expected, T x) {
  const T old = *at;
  if (old == expected) *at = x;
  return old;
}

inline void __threadfence() {}
inline unsigned atomicInc(unsigned* at, unsigned most) {
  const unsigned old = *at;
  *at = old >= most ? 0 : old + 1;
  return old;
}

/// The value of thread `from` of the block, which belongs to the warp.
template <class T>
T exchange(T x, std::size_t from) {
  emulation::Cluster& cluster = *emulation::Cluster::running;
  std::memcpy(cluster.slot(cluster.current()), &x, sizeof x);
  cluster.meet_warp();
  std::memcpy(&x, cluster.slot(from), sizeof x);
  cluster.meet_warp();
  return x;
}
template <class T>
T __shfl_up_sync(unsigned, T x, int distance) {
  const std::size_t self = emulation::Cluster::running->current();
  const bool inside = static_cast<int>(self % emulation::kWarp) >= distance;
  return exchange(x, inside ? self - static_cast<std::size_t>(distance) : self);
}
template <class T>
T __shfl_xor_sync(unsigned, T x, int mask) {
  return exchange(x, emulation::Cluster::running->current() ^ static_cast<std::size_t>(mask));
}
template <class T>
T __shfl_sync(unsigned, T x, int lane) {
  const std::size_t self = emulation::Cluster::running->current();
  return exchange(x, self / emulation::kWarp * emulation::kWarp + static_cast<std::size_t>(lane));
}
inline unsigned __ballot_sync(unsigned mask, bool x) {
  const std::size_t lane = emulation::Cluster::running->current() % emulation::kWarp;
  unsigned bits = x ? 1u << lane : 0u;
  for (int bit = 1; bit < static_cast<int>(emulation::kWarp); bit *= 2)
    bits |= __shfl_xor_sync(mask, bits, bit);
  return bits;
}
inline bool __any_sync(unsigned mask, bool x) {
  return __ballot_sync(mask, x) != 0;
}

[[noreturn]] inline void __trap() {
  abort();
}

inline int __reduce_max_sync(unsigned mask, int x) {
  for (int bit = 1; bit < static_cast<int>(emulation::kWarp); bit *= 2)
    x = std::max(x, __shfl_xor_sync(mask, x, bit));
  return x;
}
inline int __reduce_min_sync(unsigned mask, int x) {
  return -1 - __reduce_max_sync(mask, -1 - x);
}

template <class To, class From>
To bits_as(From x) {
  To y;
  static_assert(sizeof x == sizeof y);
  std::memcpy(&y, &x, sizeof y);
  return y;
}
inline float __int_as_float(int x) {
  return bits_as<float>(x);
}
inline int __float_as_int(float x) {
  return bits_as<int>(x);
}
inline float __uint_as_float(unsigned x) {
  return bits_as<float>(x);
}
inline unsigned __float_as_uint(float x) {
  return bits_as<unsigned>(x);
}
inline double __longlong_as_double(long long x) {
  return bits_as<double>(x);
}
inline int min(int a, int b) {
  return a < b ? a : b;
}
inline int __ffs(int x) {
  return __builtin_ffs(x);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned bits) {
  return static_cast<unsigned>(((static_cast<unsigned long long>(high) << 32) | low) >>
                               (bits % 32));
}
/// Nibble i of `selector` says which of the eight bytes of b:a byte i is.
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  const unsigned long long bytes = (static_cast<unsigned long long>(b) << 32) | a;
  unsigned x = 0;
  for (unsigned i = 0; i < 4; ++i) {
    x |= static_cast<unsigned>(bytes >> (8 * (selector >> (4 * i) & 7)) & 0xff) << (8 * i);
  }
  return x;
}
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) * b) >> 32);
}

inline float __fmaf_rn(float a, float b, float c) {
  return fmaf(a, b, c);
}
inline double __fma_rn(double a, double b, double c) {
  return fma(a, b, c);
}
inline float __fmul_rn(float a, float b) {
  const volatile float product = a * b;
  return product;
}
inline double __dmul_rn(double a, double b) {
  const volatile double product = a * b;
  return product;
}
inline float __fdividef(float a, float b) {
  return a / b;
}
inline float rsqrtf(float x) {
  return 1 / sqrtf(x);
}
inline double rsqrt(double x) {
  return 1 / sqrt(x);
}

// The conversions of tile/math.cuh, which saturate.
template <class To, class From>
To convert_rz(From x) {
  if (x != x) return 0;  // like the instructions that tile/math.cuh uses
  constexpr To kMin = std::numeric_limits<To>::min(), kMax = std::numeric_limits<To>::max();
  if (x <= static_cast<From>(kMin)) return kMin;
  return x >= static_cast<From>(kMax) ? kMax : static_cast<To>(x);
}
#define EMULATED_CONVERSION(name, From, To) \
  inline To name(From x) {                  \
    return convert_rz<To>(x);               \
  }
EMULATED_CONVERSION(__float2int_rz, float, int)
inline int __float2int_rn(float x) {
  return convert_rz<int>(nearbyintf(x));
}
EMULATED_CONVERSION(__float2uint_rz, float, unsigned)
EMULATED_CONVERSION(__float2ll_rz, float, long long)
EMULATED_CONVERSION(__float2ull_rz, float, unsigned long long)
EMULATED_CONVERSION(__double2int_rz, double, int)
EMULATED_CONVERSION(__double2uint_rz, double, unsigned)
EMULATED_CONVERSION(__double2ll_rz, double, long long)
EMULATED_CONVERSION(__double2ull_rz, double, unsigned long long)

template <class From>
float to_float_rz(From x) {
  const float nearest = static_cast<float>(x);
  const bool away = fabsl(static_cast<long double>(nearest)) > fabsl(static_cast<long double>(x));
  return away ? nextafterf(nearest, 0.0f) : nearest;
}
inline float __double2float_rz(double x) {
  return to_float_rz(x);
}
inline float __int2float_rz(int x) {
  return to_float_rz(x);
}
inline float __uint2float_rz(unsigned x) {
  return to_float_rz(x);
}
inline float __ll2float_rz(long long x) {
  return to_float_rz(x);
}
inline float __ull2float_rz(unsigned long long x) {
  return to_float_rz(x);
}
