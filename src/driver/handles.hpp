#pragma once

#include <memory>

#include "driver/driver.hpp"

namespace tilejit::driver {

/// Deleter of a driver handle; `Destroy` is the field of Table that destroys it. unique_ptr holds
/// the raw handle, without an allocation. The result is dropped: a destructor has nobody to tell,
/// and CUDA_ERROR_DEINITIALIZED is what a handle of static lifetime gets when the process ends.
template <typename Handle, auto Destroy>
struct Release {
  using pointer = Handle;
  const Table* driver = nullptr;  ///< not null where a handle is owned
  void operator()(Handle handle) const noexcept { (driver->*Destroy)(handle); }
};

template <typename Handle, auto Destroy>
using Unique = std::unique_ptr<Handle, Release<Handle, Destroy>>;

using UniqueLibrary = Unique<CUlibrary, &Table::cuLibraryUnload_>;
using UniqueStream = Unique<CUstream, &Table::cuStreamDestroy_>;
using UniqueEvent = Unique<CUevent, &Table::cuEventDestroy_>;
using UniquePool = Unique<CUmemoryPool, &Table::cuMemPoolDestroy_>;

/// Takes over a library that was just loaded.
[[nodiscard]] UniqueLibrary own(const Table& driver, CUlibrary library) noexcept;
/// `flags`: CU_STREAM_* and CU_EVENT_*. Both belong to the context that is current in the thread.
/// Throw Error{driver_call}.
[[nodiscard]] UniqueStream make_stream(const Table& driver, unsigned flags);
[[nodiscard]] UniqueEvent make_event(const Table& driver, unsigned flags);

/// Device memory that streams take and give back in their own order, and that stays with the pool
/// meanwhile. Throws Error{driver_call}.
[[nodiscard]] UniquePool make_pool(const Table& driver, CUdevice device);

/// The primary context of a device, retained for the life of the object. Not copyable: share it.
/// Thread-safe: immutable.
class Context {
 public:
  /// Throws Error{no_device} if there is no device `ordinal`, Error{driver_call}.
  [[nodiscard]] static std::shared_ptr<const Context> retain(const Table& driver, int ordinal);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  [[nodiscard]] const Table& driver() const noexcept { return driver_; }
  [[nodiscard]] CUdevice device() const noexcept { return device_; }
  [[nodiscard]] CUcontext handle() const noexcept { return handle_; }

 private:
  Context(const Table& driver, CUdevice device);

  const Table& driver_;
  CUdevice device_;
  CUcontext handle_ = nullptr;
};

/// Makes a context current in this thread until the end of the scope.
class ContextScope {
 public:
  /// Throws Error{driver_call}.
  explicit ContextScope(const Context& context);
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  const Table& driver_;
};

}  // namespace tilejit::driver
