#pragma once

#include <memory>

#include "runtime/binder.hpp"
#include "runtime/launch_attributes.hpp"
#include "runtime/library.hpp"
#include "runtime/live.hpp"
#include "runtime/profiler_range.hpp"
#include "tilejit/kernel.hpp"

namespace tilejit {

/// A loaded kernel, shared by the Kernels that are copies of each other: immutable, but that a full
/// build may take the place of a quick one. Builds of one plan have the same entry points and
/// parameters, so that a launch may read `library` more than once.
struct Kernel::Impl {
  /// Throws as Binder.
  Impl(std::shared_ptr<const runtime::Library> loaded, Artifact compiled, const Fused& operation,
       const spec::Analysis& analysis, const plan::Plan& plan);

  /// As Kernel::launch; `symbols` may be null.
  void launch(Stream stream, std::span<const Argument> args, const SymbolValues* symbols) const;
  void launch(Stream stream, std::span<const Argument> args, const SymbolValues* symbols,
              const LaunchOptions& options) const;
  /// A launch of parameters that are finished but for the address of partial results; their buffer
  /// is only read. Throws Error{driver_call}.
  void launch_params(Stream stream, runtime::Grid grid, const std::byte* params,
                     const runtime::LaunchAttributes& attributes) const;
  /// The same without options, of a kernel without partial results, for at most as many blocks as a
  /// grid of the device has.
  void launch_resident(Stream stream, runtime::Grid grid, const std::byte* params) const;
  /// The blocks that are launched for a grid that is not empty. Throws Error{unsupported} beyond
  /// what the device takes.
  [[nodiscard]] runtime::Grid launched(runtime::Grid grid) const;
  /// Throws Error{unsupported} for what the device or this kernel cannot do.
  void check_options(runtime::Grid grid, const LaunchOptions& options) const;

  /// What the driver is given beside stream and attributes.
  struct Shape {
    CUfunction function = nullptr;
    unsigned blocks = 0, threads = 0, shared_bytes = 0;
  };
  [[nodiscard]] Shape shape(runtime::Grid grid, int extra_shared_bytes) const noexcept;
  /// Of the second kernel, where there are partial results.
  [[nodiscard]] Shape combining_shape() const noexcept;

  [[nodiscard]] KernelInfo info() const;

  /// A full build of the same plan.
  void replace(std::shared_ptr<const runtime::Library> full_library, Artifact full) const;

  // What a launch reads, in one line of memory.
  unsigned threads;             // a block
  unsigned shared_bytes;        // a block, beyond what the kernel declares
  std::int64_t partials_bytes;  // of plans whose blocks leave partial results in memory; else 0
  runtime::RangeName launching;
  mutable runtime::Live<runtime::Library> library;

  runtime::Binder binder;
  Artifact artifact;  // the first build
  mutable runtime::Live<Artifact> latest;
  Fused op;
  int cluster;                    // blocks, by the plan; else 1
  int partials_offset = 0;        // of the pointer in the parameters
  unsigned combining_blocks = 0;  // of the second kernel

 private:
  /// Two kernels, and memory between them.
  void launch_with_partials(Stream stream, runtime::Grid grid, const std::byte* params,
                            const runtime::LaunchAttributes& attributes) const;
  [[nodiscard]] CUresult submit(Stream stream, runtime::Grid grid, const std::byte* params) const;
  [[nodiscard]] CUresult submit(Stream stream, runtime::Grid grid, const std::byte* params,
                                const runtime::LaunchAttributes& attributes) const;
  template <typename Submit>
  void submit_checked(const char* call, Submit submit) const;
  void allow_shared_bytes(runtime::Grid grid, int extra) const;
  void check_cluster(runtime::Grid grid, int blocks) const;
  void check_resident(runtime::Grid grid, int extra_shared_bytes) const;
};

/// The parameters and the options of a BoundLaunch.
struct BoundLaunch::Impl {
  std::shared_ptr<const Kernel::Impl> kernel;
  Kernel handle;
  runtime::Binder::Fixed fixed;
  runtime::Grid grid;  // as launched
  runtime::LaunchAttributes attributes;
};

}  // namespace tilejit
