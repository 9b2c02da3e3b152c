#pragma once

#include <memory>

#include "runtime/binder.hpp"
#include "runtime/library.hpp"
#include "runtime/live.hpp"
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
  [[nodiscard]] KernelInfo info() const;

  /// A full build of the same plan.
  void replace(std::shared_ptr<const runtime::Library> full_library, Artifact full) const;

  mutable runtime::Live<runtime::Library> library;
  Artifact artifact;  // the first build
  mutable runtime::Live<Artifact> latest;
  Fused op;
  runtime::Binder binder;
  unsigned threads;       // a block
  unsigned shared_bytes;  // a block, beyond what the kernel declares
  /// Of plans whose blocks leave partial results in memory.
  std::int64_t partials_bytes;    // 0: of no others
  int partials_offset = 0;        // of the pointer in the parameters
  unsigned combining_blocks = 0;  // of the second kernel

 private:
  /// Two kernels, and memory between them.
  void launch_with_partials(Stream stream, runtime::Grid grid, std::byte* params) const;
  [[nodiscard]] CUresult submit(Stream stream, runtime::Grid grid, std::byte* params) const;
  void submit_in_context(Stream stream, runtime::Grid grid, std::byte* params) const;
};

}  // namespace tilejit
