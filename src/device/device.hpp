#pragma once

#include <span>

#include "tilejit/target.hpp"

namespace tilejit::device {

/// Published peaks of one device. Throughputs are results per clock and multiprocessor.
struct Device {
  int number = 90;  ///< compute capability
  const char* name = "";
  int multiprocessors = 0;
  double gigahertz = 0;             ///< boost clock
  double gigabytes_per_second = 0;  ///< of the device's memory
  double copied = 0;                ///< gigabytes per second that a copy reaches
  int f32 = 0, f64 = 0, special = 0;
  int threads = 0, blocks = 0;  ///< resident on one multiprocessor
  int shared_bytes = 0;         ///< per multiprocessor

  /// Approximate latency of idle memory, in nanoseconds.
  [[nodiscard]] double latency_ns() const noexcept;
  /// Milliseconds for `count` results if a multiprocessor gives `per_clock` of them per clock.
  [[nodiscard]] double milliseconds(double count, int per_clock) const noexcept {
    return count / (multiprocessors * gigahertz * 1e6 * per_clock);
  }
};

/// The device that represents the target: the one of its compute capability, or else of the next
/// lower one.
[[nodiscard]] const Device& device_of(const Target& target) noexcept;

/// All devices of that compute capability; device_of is the first.
[[nodiscard]] std::span<const Device> devices_of(const Target& target) noexcept;

}  // namespace tilejit::device
