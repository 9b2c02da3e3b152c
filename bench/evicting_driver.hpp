#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace tilejit::bench {

/// A function as large as one cache line of code.
template <std::size_t N>
[[gnu::noinline, gnu::aligned(64)]] std::uint32_t step(std::uint32_t value) noexcept {
  return value * (2 * N + 1) + N;
}

template <std::size_t... N>
[[gnu::noinline]] std::uint32_t run_steps(std::uint32_t value, std::index_sequence<N...>) noexcept {
  ((value = step<N>(value)), ...);
  return value;
}

/// Goes through 64 KB of memory and 64 KB of code, as a launch in the driver does. Afterwards, no
/// first-level cache holds what ran before.
inline void evict_caches() noexcept {
  static std::array<std::uint32_t, (64 << 10) / sizeof(std::uint32_t)> memory = {};
  std::uint32_t value = run_steps(memory[0], std::make_index_sequence<1024>());
  for (std::size_t i = 0; i < memory.size(); i += 64 / sizeof memory[0]) value = memory[i] += value;
}

}  // namespace tilejit::bench
