#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "memory/device_memory.hpp"
#include "tilejit/stream.hpp"

namespace tilejit::memory {

/// Memory for the partial results of a kernel's blocks, a piece for each of the first streams that
/// launch it: launches of one stream follow each other. Taken when the kernel is loaded, since
/// taking more of the device's memory later might wait for what runs elsewhere. Thread-safe.
class StreamMemories {
 public:
  /// Pieces of `bytes`; set to 0 if blocks are counted in them, which leave the counts as they
  /// were. Throws Error{driver_call}.
  StreamMemories(std::shared_ptr<const driver::Context> context, std::size_t bytes, bool counts);

  /// 0: the launch takes memory of its own in the stream's order, as in a capture, whose graph may
  /// run beside the stream, and where all pieces are taken. The context is current. Throws
  /// Error{driver_call}.
  [[nodiscard]] CUdeviceptr of(Stream stream) const;

 private:
  std::shared_ptr<const driver::Context> context_;
  std::size_t piece_, count_;  // bytes, and pieces
  DeviceMemory memory_;
  mutable std::mutex mutex_;                     // guards what follows
  mutable std::vector<unsigned long long> ids_;  // of the streams that have the first pieces
};

}  // namespace tilejit::memory
