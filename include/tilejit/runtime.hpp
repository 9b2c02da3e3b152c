#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tilejit/compiler.hpp"
#include "tilejit/kernel.hpp"

namespace tilejit {

namespace driver {
class Context;  // a device's primary context, shared by what lives in it
}

/// One device, as the driver describes it.
struct DeviceInfo {
  int ordinal = 0;
  std::string name;
  Target target;  ///< what kernels are compiled for by default
  int multiprocessors = 0;
  std::size_t memory_bytes = 0;
  int l2_bytes = 0;
};

/// The driver and its devices.
struct DriverInfo {
  int version = 0;                  ///< 13000 for CUDA 13.0
  std::vector<DeviceInfo> devices;  ///< empty where the driver sees none
};
/// Throws Error{no_driver} or Error{driver_call}.
[[nodiscard]] DriverInfo query_driver();

/// Compiles, loads and launches on one device (its primary context). Thread-safe.
class Runtime {
 public:
  /// Throws Error{no_driver} or Error{no_device}.
  explicit Runtime(Options options = Options::from_env());
  ~Runtime();
  Runtime(Runtime&&) noexcept;
  Runtime& operator=(Runtime&&) noexcept;

  /// Memory, else disk, else NVRTC; then loaded. Throws as Compiler::compile, and Error{no_driver}
  /// if the driver is too old for the cubin. On a miss with MissPolicy::fallback: a kernel with
  /// symbols that was compiled or prepared before and computes the same (Kernel::is_fallback).
  [[nodiscard]] Kernel compile(const Fused& op);
  /// The same for a caller that will launch on `stream`. While that is being captured, a kernel is
  /// compiled only if Options::compile_in_capture allows it, else it is a miss; what is loaded is
  /// loaded so that the capture stays valid.
  [[nodiscard]] Kernel compile(const Fused& op, Stream stream);
  /// As Compiler::seal. What was prepared or compiled before is served without planning it again.
  void seal() noexcept;
  /// Compiles all of `ops`, Options::compile_jobs at a time, and loads them; in the order of `ops`.
  /// `request.progress` is told of each. If some fail, throws the first one's error when all are
  /// through; the others are loaded then, and `compile` finds them in memory.
  [[nodiscard]] std::vector<Kernel> prepare(std::span<const Fused> ops,
                                            const CompileRequest& request = {});
  [[nodiscard]] const DeviceInfo& device() const noexcept;
  [[nodiscard]] Compiler& compiler() noexcept;

  /// Makes the device's primary context current in the calling thread (as cudaSetDevice does).
  void make_current() const;

 private:
  friend struct runtime::Internals;
  struct Impl;
  explicit Runtime(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Runtime::prepare on several devices: compiles once for devices that are alike (target and name),
/// then loads on each. One list of kernels a Runtime.
[[nodiscard]] std::vector<std::vector<Kernel>> prepare(std::span<Runtime* const> runtimes,
                                                       std::span<const Fused> ops,
                                                       const CompileRequest& request = {});

/// Device memory of the Runtime's device, freed at the end of its life. Move-only; may outlive the
/// Runtime.
class Buffer {
 public:
  Buffer() = default;
  /// `bytes` of memory; none for 0. Throws Error{driver_call}.
  Buffer(const Runtime& runtime, std::size_t bytes);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;

  [[nodiscard]] void* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_; }
  operator Argument() const { return {data_}; }  // NOLINT: buffers are launch arguments

  /// Copies `bytes` bytes on the legacy default stream and waits for the copy. Throws
  /// Error{invalid_argument} for more bytes than there are, Error{driver_call}.
  void copy_from_host(const void* source, std::size_t bytes);
  void copy_to_host(void* destination, std::size_t bytes) const;

 private:
  std::shared_ptr<const driver::Context> context_;
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Median milliseconds of `iterations` launches of `kernel`, each timed by events on a stream of
/// its own after `warmup` launches. `rotate`: argument sets used in turn, so that inputs do not
/// stay in L2. Throws Error{invalid_argument} for no argument set or less than one iteration, and
/// as launch.
struct Timing {
  double median_ms = 0, min_ms = 0, p90_ms = 0;
  int iterations = 0;
};
[[nodiscard]] Timing time_launches(const Runtime& runtime, const Kernel& kernel,
                                   std::span<const std::vector<Argument>> rotate,
                                   const SymbolValues& symbols = {}, int warmup = 5,
                                   int iterations = 50);
/// The same for a device-to-device copy of `bytes` bytes: the ceiling that kernels are held
/// against.
[[nodiscard]] Timing time_copy(const Runtime& runtime, std::size_t bytes, int warmup = 5,
                               int iterations = 50);

}  // namespace tilejit
