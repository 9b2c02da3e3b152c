#pragma once

#include <memory>
#include <mutex>

#include "driver/driver.hpp"
#include "driver/fork.hpp"
#include "driver/limits.hpp"
#include "driver/reports.hpp"

namespace tilejit::driver {

[[nodiscard]] inline CUdeviceptr address_of(const void* data) noexcept {
  return reinterpret_cast<CUdeviceptr>(data);
}

/// Either the primary context of a device, retained for the life of the object, or a context of the
/// caller. Not copyable: share it. Thread-safe.
class Context {
 public:
  /// Throws Error{no_device} if there is no device `ordinal`, Error{driver_call}.
  [[nodiscard]] static std::shared_ptr<const Context> retain(const Table& driver, int ordinal);
  /// A context that the caller keeps alive as long as anything uses it. Throws Error{driver_call}.
  [[nodiscard]] static std::shared_ptr<const Context> adopt(const Table& driver, CUcontext handle);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  [[nodiscard]] const Table& driver() const noexcept { return driver_; }
  [[nodiscard]] CUdevice device() const noexcept { return device_; }
  [[nodiscard]] CUcontext handle() const noexcept { return handle_; }
  [[nodiscard]] const Limits& limits() const noexcept { return limits_; }
  /// What kernels in this context have noted. Whoever has waited for the device raises them.
  [[nodiscard]] Reports& reports() const noexcept { return reports_; }
  /// The pool from which kernels take memory in the order of a stream, and to which they free it.
  /// It is made by the first call, in this context, which must be current, and shared: a process
  /// has room for a few hundred pools only. Freed memory stays in it. Throws Error{driver_call}.
  [[nodiscard]] CUmemoryPool pool() const;

  /// Whether objects made in this context can still be destroyed. They cannot in a forked child,
  /// whose handles belong to the parent, or after the context was destroyed or its device reset:
  /// the objects are gone then, and the driver may hang when it is asked to destroy them again.
  [[nodiscard]] bool is_alive() const noexcept;

 private:
  Context(const Table& driver, CUdevice device);
  Context(const Table& driver, CUdevice device, CUcontext handle);
  void query();

  const Table& driver_;
  CUdevice device_;
  Limits limits_;
  mutable Reports reports_;
  mutable std::mutex pool_mutex_;
  mutable CUmemoryPool pool_ = nullptr;
  CUcontext handle_ = nullptr;
  unsigned long long id_ = 0;  // a reset context keeps its handle but gets a new id; 0: unknown
  bool retained_ = false;
};

/// Deleter of a driver handle; `Destroy` is the field of Table that destroys it. A unique_ptr holds
/// the raw handle without an allocation. The result is dropped: a destructor cannot report it, and
/// at the end of the process static handles get CUDA_ERROR_DEINITIALIZED.
template <typename Handle, auto Destroy>
struct Release {
  using pointer = Handle;
  const Context* context = nullptr;  ///< outlives the handle; not null if a handle is owned
  void operator()(Handle handle) const noexcept {
    if (context->is_alive()) (context->driver().*Destroy)(handle);
  }
};

template <typename Handle, auto Destroy>
using Unique = std::unique_ptr<Handle, Release<Handle, Destroy>>;

using UniqueLibrary = Unique<CUlibrary, &Table::cuLibraryUnload_>;
using UniqueStream = Unique<CUstream, &Table::cuStreamDestroy_>;
using UniqueEvent = Unique<CUevent, &Table::cuEventDestroy_>;
using UniqueGraph = Unique<CUgraph, &Table::cuGraphDestroy_>;
using UniqueGraphExec = Unique<CUgraphExec, &Table::cuGraphExecDestroy_>;

/// `flags`: CU_STREAM_* and CU_EVENT_*. The context must be current in this thread. Throw
/// Error{driver_call}.
[[nodiscard]] UniqueStream make_stream(const Context& context, unsigned flags);
[[nodiscard]] UniqueStream make_stream(const Context& context, unsigned flags, int priority);
[[nodiscard]] UniqueEvent make_event(const Context& context, unsigned flags);

/// Waits for everything on the stream. Throws Error{driver_call}, and as Reports::raise.
void synchronize(const Context& context, CUstream stream);

/// Makes a context current in this thread until the end of the scope.
class ContextScope {
 public:
  /// Throws Error{driver_call}.
  explicit ContextScope(const Context& context);
  ContextScope(const Table& driver, CUcontext handle);
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  const Table& driver_;
};

/// The same for destructors: does nothing if the driver refuses, which it may do when the process
/// ends.
class QuietContextScope {
 public:
  explicit QuietContextScope(const Context& context) noexcept;
  ~QuietContextScope();
  QuietContextScope(const QuietContextScope&) = delete;
  QuietContextScope& operator=(const QuietContextScope&) = delete;

 private:
  const Table& driver_;
  bool pushed_;
};

/// Lets this thread, until the end of the scope, make calls that a stream capture anywhere in the
/// process would forbid. Calls that belong to no stream (loading, making a pool) take effect at
/// once and do not harm a capture.
class OutsideCapture {
 public:
  /// Throws Error{driver_call}.
  explicit OutsideCapture(const Table& driver);
  ~OutsideCapture();
  OutsideCapture(const OutsideCapture&) = delete;
  OutsideCapture& operator=(const OutsideCapture&) = delete;

 private:
  const Table& driver_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;  // afterwards the thread's own mode
};

}  // namespace tilejit::driver
