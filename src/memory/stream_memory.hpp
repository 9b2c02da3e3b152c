#pragma once

#include <cstdint>

#include "driver/driver.hpp"

namespace tilejit::memory {

/// Memory between two points of a stream. Launches on the stream between them may use it.
class StreamMemory {
 public:
  /// Throws Error{driver_call}.
  StreamMemory(const driver::Table& driver, CUmemoryPool pool, std::int64_t bytes, CUstream stream)
      : driver_(driver), stream_(stream) {
    driver::check(
        driver_,
        driver_.cuMemAllocFromPoolAsync_(&address_, static_cast<std::size_t>(bytes), pool, stream_),
        "cuMemAllocFromPoolAsync");
  }
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;
  ~StreamMemory() { driver_.cuMemFreeAsync_(address_, stream_); }
  [[nodiscard]] CUdeviceptr address() const noexcept { return address_; }

 private:
  const driver::Table& driver_;
  CUstream stream_;
  CUdeviceptr address_ = 0;
};

}  // namespace tilejit::memory
