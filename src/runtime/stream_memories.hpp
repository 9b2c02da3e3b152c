#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "runtime/device_memory.hpp"
#include "tilejit/stream.hpp"

namespace tilejit::runtime {

/// Memory for the partial results of a kernel's blocks: one piece a stream, whose launches follow
/// each other. Where blocks are counted in it, it is zeroed once, since each launch leaves the
/// counts as they were. Thread-safe.
class StreamMemories {
 public:
  StreamMemories(std::shared_ptr<const driver::Context> context, std::size_t bytes, bool zeroed)
      : context_(std::move(context)), bytes_(bytes), zeroed_(zeroed) {}

  /// 0: the launch takes memory of its own, as in a capture, whose graph may run beside the stream,
  /// and where so many streams have theirs that it would never be given back. The context is
  /// current. Throws Error{driver_call}.
  [[nodiscard]] CUdeviceptr of(Stream stream) const;

 private:
  std::shared_ptr<const driver::Context> context_;
  std::size_t bytes_;
  bool zeroed_;
  mutable std::mutex mutex_;                                     // guards what follows
  mutable std::map<unsigned long long, DeviceMemory> memories_;  // by the stream's id
};

}  // namespace tilejit::runtime
