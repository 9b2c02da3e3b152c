#pragma once

#include <optional>

namespace tilejit {

/// How a kernel is launched, apart from its arguments. What the device cannot do is refused before
/// the driver is called: Error{unsupported}, with the device's number.
struct LaunchOptions {
  /// The kernel's blocks may be placed while the kernel before it in the stream ends (programmatic
  /// dependent launch), which hides the time between two small kernels: ours wait for that end
  /// before they touch memory. Needs compute capability 9.0; without effect on kernels that take
  /// memory per launch.
  bool overlap = false;
  /// All blocks run at once, or the launch is refused: at most multiprocessors times
  /// KernelInfo::blocks_per_sm.
  bool cooperative = false;
  /// Priority of the blocks, as of streams (StreamOptions::priority). Empty: the stream's.
  std::optional<int> priority = {};
  /// Percent of the first-level cache that is wanted as shared memory, 0..100; a hint. Empty: the
  /// driver chooses.
  std::optional<int> shared_carveout = {};
  /// Blocks that are placed together, 1..8: the grid must be a multiple of this. Refused for
  /// kernels whose plan has clusters. Empty: none.
  std::optional<int> cluster = {};
  /// Bytes of shared memory that a block takes beyond what the kernel needs, so that fewer blocks
  /// are resident; may exceed 48 KB.
  int shared_bytes = 0;
  bool operator==(const LaunchOptions&) const = default;
};

}  // namespace tilejit
