#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "driver/handles.hpp"

namespace tilejit::memory {

/// Device memory that kernels need for themselves and that outlives a launch.
class DeviceMemory {
 public:
  /// Throws Error{driver_call}.
  DeviceMemory(std::shared_ptr<const driver::Context> context, std::size_t bytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  [[nodiscard]] CUdeviceptr address() const noexcept { return address_; }
  [[nodiscard]] std::int64_t bytes() const noexcept { return static_cast<std::int64_t>(bytes_); }
  /// Sets all bytes to 0 and waits for that. Throws Error{driver_call}.
  void clear() const;

 private:
  std::shared_ptr<const driver::Context> context_;
  std::size_t bytes_;
  CUdeviceptr address_ = 0;
};

}  // namespace tilejit::memory
