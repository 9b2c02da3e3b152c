#pragma once

#include <cstdint>
#include <string_view>

#include "device/device.hpp"

namespace tilejit::device {

/// What a block takes of its multiprocessor.
struct BlockNeeds {
  int threads = 32;
  int registers = 0;              ///< a thread; 0: not known, and taken to be few
  std::int64_t shared_bytes = 0;  ///< static and dynamic
};

/// Blocks that a multiprocessor holds at once.
struct Occupancy {
  int blocks = 0;
  int threads = 0;
  double part = 0;  ///< threads of those that it holds at most: 0..1
  std::string_view limit =
      "threads";  ///< what is used up first: "threads", "registers", "shared memory" or "blocks"
};

/// By the limits of the compute capability and the units in which registers and shared memory are
/// given out.
[[nodiscard]] Occupancy occupancy_of(const Device& device, const BlockNeeds& needs) noexcept;

}  // namespace tilejit::device
