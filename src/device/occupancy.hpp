#pragma once

#include <cstdint>
#include <string_view>

#include "device/device.hpp"

namespace tilejit::device {

/// The resources that a block takes from its multiprocessor.
struct BlockNeeds {
  int threads = 32;
  int registers = 0;              ///< per thread; 0: unknown, assumed to be few
  std::int64_t shared_bytes = 0;  ///< static and dynamic
};

/// The number of blocks that a multiprocessor holds at once.
struct Occupancy {
  int blocks = 0;
  int threads = 0;
  double part = 0;  ///< resident threads / the most a multiprocessor can hold: 0..1
  std::string_view limit = "threads";  ///< the resource that runs out first: "threads",
                                       ///< "registers", "shared memory" or "blocks"
};

/// Follows the limits of the compute capability and the units in which registers and shared memory
/// are allocated.
[[nodiscard]] Occupancy occupancy_of(const Device& device, const BlockNeeds& needs) noexcept;

}  // namespace tilejit::device
