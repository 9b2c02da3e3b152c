#pragma once

#include <memory>

#include "driver/handles.hpp"
#include "launch/kernel_impl.hpp"
#include "tilejit/runtime.hpp"

namespace tilejit::front {
struct Planned;
}

namespace tilejit::launch {

/// The way into public handles, for this room and its tests.
struct Internals {
  /// A Runtime on another driver than libcuda. `driver` outlives it. Throws as Runtime's
  /// constructor.
  [[nodiscard]] static Runtime make_runtime(Options options, const driver::Table& driver);
  [[nodiscard]] static Runtime make_runtime(Options options, const driver::Table& driver,
                                            CUcontext context);
  [[nodiscard]] static const std::shared_ptr<const driver::Context>& context(
      const Runtime& runtime) noexcept;
  [[nodiscard]] static Runtime::Impl& open(Runtime& runtime) noexcept { return *runtime.impl_; }
  [[nodiscard]] static Compiler::Impl& open(Compiler& compiler) noexcept { return *compiler.impl_; }
  /// A kernel whose symbols have these values.
  [[nodiscard]] static Kernel bind(const Kernel& kernel, SymbolValues values);
  /// Those; null of a kernel that is no fallback.
  [[nodiscard]] static const std::shared_ptr<const SymbolValues>& bound_of(
      const Kernel& kernel) noexcept {
    return kernel.bound_;
  }
  /// `symbols` and those that are bound. Throws Error{invalid_argument} for one that is in both.
  [[nodiscard]] static SymbolValues completed(const SymbolValues& bound,
                                              const SymbolValues& symbols);
  /// A Kernel of a loaded library; `launch` is that of `plan`. Throws as Binder.
  [[nodiscard]] static Kernel make_kernel(std::shared_ptr<const Library> library, Artifact artifact,
                                          const Operation& op, const operation::Plan& plan,
                                          const operation::LaunchPlan& launch);
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
  /// What a Runtime launches first: under CompileEffort::tiered the quick build, unless the cache
  /// has the full one. Throws as Compiler::compile.
  struct FirstBuild {
    Artifact artifact;
    operation::Plan plan;  ///< of `artifact`: of a quick one a light plan, where there is one
    bool quick = false;
  };
  [[nodiscard]] static FirstBuild first_build(Compiler& compiler, const Operation& op,
                                              const front::Planned& planned);
  /// Has the full build of a quick one compiled in the background, and gives it to `kernel` and its
  /// copies. Warns if that fails.
  static void replace_later(Runtime::Impl& runtime, const Kernel& kernel,
                            const front::Planned& planned);
};

}  // namespace tilejit::launch
