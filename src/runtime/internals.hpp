#pragma once

#include <memory>

#include "driver/handles.hpp"
#include "runtime/kernel_impl.hpp"
#include "tilejit/runtime.hpp"

namespace tilejit::runtime {

/// The way into public handles, for this room and its tests.
struct Internals {
  /// A Runtime on another driver than libcuda. `driver` outlives it. Throws as Runtime's
  /// constructor.
  [[nodiscard]] static Runtime make_runtime(Options options, const driver::Table& driver);
  [[nodiscard]] static Runtime make_runtime(Options options, const driver::Table& driver,
                                            CUcontext context);
  [[nodiscard]] static const std::shared_ptr<const driver::Context>& context(
      const Runtime& runtime) noexcept;
  /// A Kernel of a loaded library. Throws as Binder.
  [[nodiscard]] static Kernel make_kernel(std::shared_ptr<const Library> library, Artifact artifact,
                                          const Fused& op, const spec::Analysis& analysis,
                                          const plan::Plan& plan);
  [[nodiscard]] static const std::shared_ptr<const Kernel::Impl>& of(
      const Kernel& kernel) noexcept {
    return kernel.impl_;
  }
  [[nodiscard]] static const BoundLaunch::Impl& of(const BoundLaunch& launch) noexcept {
    return *launch.impl_;
  }
  /// Kernel::bind.
  [[nodiscard]] static BoundLaunch make_bound(const Kernel& kernel, std::span<const Argument> args,
                                              const SymbolValues& symbols,
                                              const LaunchOptions& options);
};

}  // namespace tilejit::runtime
