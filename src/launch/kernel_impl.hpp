#pragma once

#include <atomic>
#include <memory>

#include "front/profiler_range.hpp"
#include "launch/binder.hpp"
#include "launch/launch_attributes.hpp"
#include "launch/library.hpp"
#include "launch/plain_binder.hpp"
#include "memory/stream_memories.hpp"
#include "tilejit/kernel.hpp"

namespace tilejit {

namespace launch {
class Stages;
}

/// A loaded kernel, shared by the Kernels that are copies of each other: immutable, but that a full
/// build may take the place of a quick one, with all that belongs to it. What bound or captured the
/// quick one keeps it: it lives as long as its Kernel.
struct Kernel::Impl {
  /// Throws as Binder.
  Impl(std::shared_ptr<const launch::Library> loaded, Artifact compiled, const Fused& operation,
       const spec::Analysis& analysis, const plan::Plan& plan);
  ~Impl();

  /// As Kernel::launch; `symbols` may be null.
  void launch(Stream stream, std::span<const Argument> args, const SymbolValues* symbols) const;
  void launch(Stream stream, std::span<const Argument> args, const SymbolValues* symbols,
              const LaunchOptions& options) const;
  /// A launch of parameters that are finished but for the address of partial results; their buffer
  /// is only read. Throws Error{driver_call}.
  void launch_params(Stream stream, launch::Grid grid, const std::byte* params,
                     const launch::LaunchAttributes& attributes) const;
  /// The same without options, of a kernel without partial results, for at most as many blocks as a
  /// grid of the device has.
  void launch_resident(Stream stream, launch::Grid grid, const std::byte* params) const;
  /// The blocks that are launched for a grid that is not empty. Throws Error{unsupported} beyond
  /// what the device takes.
  [[nodiscard]] launch::Grid launched(launch::Grid grid) const;
  /// Throws Error{unsupported} for what the device or this kernel cannot do.
  void check_options(launch::Grid grid, const LaunchOptions& options) const;

  /// What the driver is given beside stream and attributes.
  struct Shape {
    CUfunction function = nullptr;
    unsigned blocks = 0, threads = 0, shared_bytes = 0;
  };
  [[nodiscard]] Shape shape(launch::Grid grid, int extra_shared_bytes) const noexcept;
  /// Of the second kernel, where there is one.
  [[nodiscard]] Shape combining_shape() const noexcept;
  /// Memory for partial results. Throws Error{driver_call}.
  [[nodiscard]] std::shared_ptr<const memory::DeviceMemory> make_partials() const;

  [[nodiscard]] KernelInfo info() const;

  /// The build that is launched now, by one atomic load: this one, or the full one in its place.
  [[nodiscard]] const Impl& current() const noexcept {
    const Impl* const full = full_.load(std::memory_order_acquire);
    return full == nullptr ? *this : *full;
  }
  /// The same for parameters and a grid that this build's binder has made.
  [[nodiscard]] const Impl& current_of_plan() const noexcept {
    const Impl& now = current();
    return now.fills_in ? now : *this;
  }
  /// Puts `full` in this one's place, once. Launches in other threads go on.
  void replace(std::shared_ptr<const Impl> full) const;

  // What a launch reads, in lines of memory behind each other.
  unsigned threads;       // a block
  unsigned shared_bytes;  // a block, beyond what the kernel declares
  front::RangeName launching;
  std::shared_ptr<const launch::Library> library;
  std::int64_t partials_bytes;  // of plans whose blocks leave partial results in memory; else 0
  bool needs_memory;            // for partial results, or between stages
  std::optional<launch::PlainBinder> plain;  // of kernels that need none

 private:
  mutable std::atomic<const Impl*> full_ = nullptr;

 public:
  launch::Binder binder;
  Artifact artifact;
  bool light;             // of a light plan
  bool fills_in = false;  // of the plan of the quick build in whose place it is
  Fused op;
  int cluster;                    // blocks, by the plan; else 1
  int partials_offset = 0;        // of the pointer in the parameters
  unsigned combining_blocks = 0;  // of the second kernel; 0: the first one's last blocks combine
  unsigned combining_threads = 0;
  std::unique_ptr<const memory::StreamMemories> partials;  // null without any
  std::unique_ptr<const launch::Stages> stages;            // null: a plan of one kernel

 private:
  mutable std::shared_ptr<const Impl> full_owner_;  // set before full_

  /// Whether blocks that share rows count those that are done, in memory that was 0.
  [[nodiscard]] bool counts_blocks() const noexcept { return partials && combining_blocks == 0; }
  /// One kernel or several, and memory between their blocks.
  void launch_with_memory(Stream stream, launch::Grid grid, const std::byte* params,
                          const launch::LaunchAttributes& attributes) const;
  void combine(Stream stream, const std::byte* params,
               const launch::LaunchAttributes& attributes) const;
  [[nodiscard]] CUresult submit(Stream stream, launch::Grid grid, const std::byte* params) const;
  [[nodiscard]] CUresult submit(Stream stream, launch::Grid grid, const std::byte* params,
                                const launch::LaunchAttributes& attributes) const;
  template <typename Submit>
  void submit_checked(const char* call, Submit submit) const;
  void allow_shared_bytes(launch::Grid grid, int extra) const;
  void check_cluster(launch::Grid grid, int blocks) const;
  void check_resident(launch::Grid grid, int extra_shared_bytes) const;
};

/// The parameters and the options of a BoundLaunch.
struct BoundLaunch::Impl {
  std::shared_ptr<const Kernel::Impl> kernel;  // the build that was current
  Kernel handle;
  launch::Binder::Fixed fixed;
  launch::Grid grid;  // as launched
  launch::LaunchAttributes attributes;
};

}  // namespace tilejit
