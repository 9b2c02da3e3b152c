#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tilejit/buffer.hpp"
#include "tilejit/compiler.hpp"
#include "tilejit/kernel.hpp"
#include "tilejit/reference.hpp"

struct CUctx_st;  // CUDA's context; CUcontext is a pointer to it

namespace tilejit {

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
  std::vector<DeviceInfo> devices;  ///< empty if the driver sees none
};
/// Throws Error{no_driver} or Error{driver_call}.
[[nodiscard]] DriverInfo query_driver();

/// Compiles, loads and launches on one device. Thread-safe; each device has a Runtime of its own.
/// In a process that was forked after the first Runtime was made, everything except destroying it
/// throws Error{driver_call}. After cudaDeviceReset nothing of the device may be used; it may be
/// destroyed.
class Runtime {
 public:
  /// In the device's primary context, which the CUDA runtime API uses too. Throws Error{no_driver}
  /// or Error{no_device}.
  explicit Runtime(Options options = Options::from_env());
  /// In a context of the caller's, which must outlive the Runtime and all that is made from it;
  /// Options::device has no effect. Throws Error{no_driver} or Error{driver_call}.
  Runtime(Options options, ::CUctx_st* context);
  ~Runtime();
  Runtime(Runtime&&) noexcept;
  Runtime& operator=(Runtime&&) noexcept;

  /// Takes the kernel from memory, else disk, else NVRTC, and loads it. Throws as
  /// Compiler::compile, and Error{no_driver} if the driver is too old for the cubin. On a miss with
  /// MissPolicy::fallback: a kernel with symbols that was compiled or prepared before and computes
  /// the same (Kernel::is_fallback).
  [[nodiscard]] Kernel compile(const Operation& op);
  /// The same for a caller that will launch on `stream`. While that is being captured, a kernel is
  /// compiled only if Options::compile_in_capture allows it, else it is a miss. Loading keeps the
  /// capture valid.
  [[nodiscard]] Kernel compile(const Operation& op, Stream stream);
  /// As Compiler::seal. What was prepared or compiled before is served without planning it again.
  void seal() noexcept;
  /// Compiles all of `ops`, Options::compile_jobs at a time, and loads them; in the order of `ops`.
  /// Calls `request.progress` for each. If some fail, throws the first one's error when all are
  /// through; the others are then loaded, and `compile` finds them in memory.
  [[nodiscard]] std::vector<Kernel> prepare(std::span<const Operation> ops,
                                            const CompileRequest& request = {});
  [[nodiscard]] const DeviceInfo& device() const noexcept;
  [[nodiscard]] Compiler& compiler() noexcept;

  /// Makes the Runtime's context current in the calling thread (as cudaSetDevice does).
  void make_current() const;
  /// Waits for everything on the device that the Runtime's context has been given, on whatever
  /// streams (as cudaDeviceSynchronize does). Throws Error{driver_call}, also for a kernel's fault;
  /// not while a stream is captured. Throws Error{invalid_argument} if an `Assert` of a tile
  /// program did not hold since this Runtime last waited (docs/tile-programs.md, "Kernels").
  void synchronize() const;

 private:
  friend struct launch::Internals;
  struct Impl;
  explicit Runtime(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// As the function without a device, which multiplies what takes the CPU long: products of f64, by
/// a kernel of the library's own whose sums the CPU checks. Without a compiler or memory for that
/// on the device, all is left to the CPU.
[[nodiscard]] Verification verify(Runtime& runtime, const Operation& op,
                                  const HostArguments& inputs, std::span<const void* const> actual);

/// Runtime::prepare on several devices: compiles once for devices that are alike (target and name),
/// then loads on each. Returns one list of kernels per Runtime.
[[nodiscard]] std::vector<std::vector<Kernel>> prepare(std::span<Runtime* const> runtimes,
                                                       std::span<const Operation> ops,
                                                       const CompileRequest& request = {});

}  // namespace tilejit
