#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "tilejit/kernel.hpp"

namespace tilejit {

namespace driver {
class Context;  // a device's primary context, shared by what lives in it
}
class Runtime;

/// Device memory of the Runtime's device, freed at the end of its life. Move-only; may outlive the
/// Runtime. One thread at a time may change it.
class Buffer {
 public:
  Buffer() = default;
  /// `bytes` of memory; none for 0. Throws Error{driver_call}.
  Buffer(const Runtime& runtime, std::size_t bytes);
  /// Memory taken and given back in the order of `stream`, from the device's memory pool: neither
  /// this nor the destructor waits for the device. Another stream has to wait (by an event) for
  /// `stream` before it uses the memory, and `stream` has to wait for that one before the buffer's
  /// end. The stream must outlive the buffer. Throws Error{driver_call}.
  Buffer(const Runtime& runtime, std::size_t bytes, Stream stream);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;

  [[nodiscard]] void* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_; }
  operator Argument() const { return {data_}; }  // NOLINT: buffers are launch arguments

  /// Copies `bytes` bytes on the buffer's stream (the legacy default stream if it has none), and
  /// waits for the copy. Throws Error{invalid_argument} for more bytes than there are,
  /// Error{driver_call}, and as Runtime::synchronize for assertions.
  void copy_from_host(const void* source, std::size_t bytes);
  void copy_to_host(void* destination, std::size_t bytes) const;

  /// Copies in the order of `stream` and does not wait: the host memory must not change until the
  /// stream has got there. If it is no HostBuffer, the driver may copy at once, and wait for that.
  /// Throws as above.
  void copy_from_host_async(const void* source, std::size_t bytes, Stream stream);
  void copy_to_host_async(void* destination, std::size_t bytes, Stream stream) const;

 private:
  std::shared_ptr<const driver::Context> context_;
  void* data_ = nullptr;
  std::size_t size_ = 0;
  Stream stream_ = nullptr;
  bool in_stream_order_ = false;
};

/// Page-locked host memory: the device copies from and to it while the host goes on. Not
/// initialised. Move-only; may outlive the Runtime. Making one is slow: keep it.
class HostBuffer {
 public:
  HostBuffer() = default;
  /// `bytes` of memory; none for 0. Throws Error{driver_call}.
  HostBuffer(const Runtime& runtime, std::size_t bytes);
  ~HostBuffer();
  HostBuffer(HostBuffer&& other) noexcept;
  HostBuffer& operator=(HostBuffer&& other) noexcept;

  [[nodiscard]] void* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_; }
  /// As many whole elements as fit.
  template <typename T>
  [[nodiscard]] std::span<T> as() const noexcept {
    return {static_cast<T*>(data_), size_ / sizeof(T)};
  }

 private:
  std::shared_ptr<const driver::Context> context_;
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tilejit
