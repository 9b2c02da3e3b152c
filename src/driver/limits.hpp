#pragma once

#include "driver/driver.hpp"

namespace tilejit::driver {

/// What one launch can ask of a device at most.
struct Limits {
  int grid_x = 0;           ///< blocks
  int block_threads = 0;    ///< threads a block
  int shared_bytes = 0;     ///< a block, static and dynamic
  int multiprocessors = 0;  ///< that run its blocks
  int major = 0;            ///< of the compute capability
  bool cooperative = false;
  bool clusters = false;
  int least_priority = 0;     ///< of streams and launches: the highest number
  int greatest_priority = 0;  ///< the lowest number
  /// Blocks of a cluster that every device with clusters takes.
  static constexpr int kClusterBlocks = 8;
};

/// All but the priorities. Throws Error{driver_call}.
[[nodiscard]] Limits query_limits(const Table& driver, CUdevice device);

}  // namespace tilejit::driver
