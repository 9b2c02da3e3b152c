#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "runtime/device_memory.hpp"
#include "tilejit/stream.hpp"

namespace tilejit::runtime {

/// Memory for the partial results of a kernel's blocks, a piece a stream, whose launches follow
/// each other. Where blocks are counted in it, each stream has one from its first launch on, zeroed
/// once, since each launch leaves the counts as they were. Else there is one piece, taken when the
/// kernel is loaded, for the first stream that launches: taking more of the device's memory might
/// wait for what runs elsewhere. Thread-safe.
class StreamMemories {
 public:
  /// Throws Error{driver_call}.
  StreamMemories(std::shared_ptr<const driver::Context> context, std::size_t bytes, bool counts)
      : context_(std::move(context)), bytes_(bytes) {
    if (!counts) only_.emplace(context_, bytes_);
  }

  /// 0: the launch takes memory of its own in the stream's order, as in a capture, whose graph may
  /// run beside the stream, and where so many streams have theirs that it would never be given
  /// back. The context is current. Throws Error{driver_call}.
  [[nodiscard]] CUdeviceptr of(Stream stream) const;

 private:
  std::shared_ptr<const driver::Context> context_;
  std::size_t bytes_;
  std::optional<DeviceMemory> only_;
  mutable std::mutex mutex_;                         // guards what follows
  mutable std::optional<unsigned long long> first_;  // the id of the stream that has the only piece
  mutable std::map<unsigned long long, DeviceMemory> memories_;  // by the stream's id
};

}  // namespace tilejit::runtime
