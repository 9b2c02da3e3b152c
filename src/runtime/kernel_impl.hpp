#pragma once

#include <memory>

#include "runtime/binder.hpp"
#include "runtime/library.hpp"
#include "tilejit/kernel.hpp"

namespace tilejit {

/// A loaded kernel: immutable, shared by the Kernels that are copies of each other.
struct Kernel::Impl {
  /// Throws as Binder.
  Impl(std::shared_ptr<const runtime::Library> loaded, Artifact compiled, const Fused& operation,
       const spec::Analysis& analysis, const plan::Plan& plan);

  /// As Kernel::launch; `symbols` may be null.
  void launch(Stream stream, std::span<const Argument> args, const SymbolValues* symbols) const;
  [[nodiscard]] KernelInfo info() const;

  std::shared_ptr<const runtime::Library> library;
  Artifact artifact;
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
