#pragma once

#include "device/device.hpp"
#include "figures/figures.hpp"

namespace tilejit::figures {

/// What limits a kernel, in microseconds each. They overlap: the kernel takes a little longer than
/// the longest.
struct Times {
  double memory = 0;    ///< bytes, at what copies reach
  double issue = 0;     ///< instructions
  double special = 0;   ///< special functions
  double requests = 0;  ///< sectors that warps ask for
  double latency = 0;   ///< waves of blocks, each of which waits for its own loads and exchanges
  double starts = 0;    ///< of blocks
  [[nodiscard]] double together() const noexcept;
  /// "memory", "arithmetic", "special functions", "requests", "latency" or "blocks"; "launch" if
  /// all of it takes less than a launch.
  [[nodiscard]] std::string_view limit() const noexcept;
};

/// The times of a kernel on `device`. If `cached`, its tensors are in the L2 cache.
[[nodiscard]] Times times_of(const Demand& demand, const device::Device& device, bool cached);

/// Microseconds of a launch of one kernel, from the kernel before it to the next one, and what
/// takes most of them.
struct Prediction {
  double us = 0;
  std::string_view limit = {};
};
[[nodiscard]] Prediction predict_launch(const Demand& demand, const device::Device& device,
                                        std::int64_t bytes_moved);
/// Microseconds that a further kernel of the same launch takes less.
[[nodiscard]] double saved_by_following() noexcept;

}  // namespace tilejit::figures
