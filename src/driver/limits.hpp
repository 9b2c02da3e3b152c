#pragma once

#include "driver/driver.hpp"

namespace tilejit::driver {

/// The most that one launch can ask of a device.
struct Limits {
  int grid_x = 0;           ///< blocks
  int block_threads = 0;    ///< threads per block
  int shared_bytes = 0;     ///< per block, static and dynamic
  int multiprocessors = 0;  ///< multiprocessors that run the blocks
  int major = 0;            ///< of the compute capability
  bool cooperative = false;
  bool clusters = false;
  int least_priority = 0;     ///< for streams and launches: the highest number
  int greatest_priority = 0;  ///< the lowest number
  /// Cluster size, in blocks, that every device with clusters supports.
  static constexpr int kClusterBlocks = 8;
};

/// Queries all limits except the priorities. Throws Error{driver_call}.
[[nodiscard]] Limits query_limits(const Table& driver, CUdevice device);

}  // namespace tilejit::driver
