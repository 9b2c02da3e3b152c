#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "memory/device_memory.hpp"
#include "tilejit/stream.hpp"

namespace tilejit::memory {

/// Memory for the partial results of a kernel's blocks: one piece for each of the first streams
/// that launch the kernel. Launches on one stream follow each other, so they can share a piece. All
/// pieces are allocated when the kernel is loaded, since a later allocation might wait for other
/// work on the device. Thread-safe.
class StreamMemories {
 public:
  /// Pieces of `bytes`. If blocks count in them (`counts`), pieces are set to 0; each launch leaves
  /// the counts as it found them. Throws Error{driver_call}.
  StreamMemories(std::shared_ptr<const driver::Context> context, std::size_t bytes, bool counts);

  /// The piece of `stream`. 0: the launch must allocate its own memory in stream order. That is so
  /// if all pieces are taken, and in a capture, whose graph may run beside the stream. The context
  /// must be current. Throws Error{driver_call}.
  [[nodiscard]] CUdeviceptr of(Stream stream) const;

 private:
  std::shared_ptr<const driver::Context> context_;
  std::size_t piece_, count_;  // size of a piece in bytes, and number of pieces
  DeviceMemory memory_;
  mutable std::mutex mutex_;                     // guards what follows
  mutable std::vector<unsigned long long> ids_;  // of the streams that own the first pieces
};

}  // namespace tilejit::memory
