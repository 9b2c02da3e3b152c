#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "launch/kernel_impl.hpp"
#include "launch/kernel_node.hpp"

namespace tilejit {

/// The parameters and options of a BoundLaunch.
struct BoundLaunch::Impl {
  /// Throws as Kernel::bind. `build` is the one that is current.
  Impl(std::shared_ptr<const Kernel::Impl> build, Kernel bound_kernel,
       launch::Binder::Fixed arguments, const LaunchOptions& options);
  Impl(const Impl& other);
  Impl& operator=(const Impl&) = delete;

  [[nodiscard]] launch::BoundParams bound() const noexcept {
    launch::BoundParams bound = fixed.bound();
    bound.grids = grids;
    return bound;
  }

  std::shared_ptr<const Kernel::Impl> kernel;
  Kernel handle;
  launch::Binder::Fixed fixed;
  std::vector<launch::Grid> grids;  // as launched
  launch::LaunchAttributes attributes;
  /// What sets a graph node to this launch, without the shared memory of `attributes`. None if it
  /// takes several kernels or workspaces, or launches nothing. Points into `fixed`, whose
  /// parameters keep their place. Made beforehand, since the driver reads it in wider pieces than
  /// it is written in, which stalls right after the writes.
  std::optional<launch::KernelNode> node;

 private:
  void make_node();
};

}  // namespace tilejit
