#pragma once

#include <memory>

#include "driver/handles.hpp"
#include "launch/kernel_impl.hpp"
#include "tilejit/runtime.hpp"

namespace tilejit::front {
struct Planned;
}

namespace tilejit::launch {

/// Access to the insides of public handles, for this folder and its tests.
struct Internals {
  /// A Runtime on a driver other than libcuda. `driver` outlives it. Throws as Runtime's
  /// constructor.
  [[nodiscard]] static Runtime make_runtime(Options options, const driver::Table& driver);
  [[nodiscard]] static Runtime make_runtime(Options options, const driver::Table& driver,
                                            CUcontext context);
  [[nodiscard]] static const std::shared_ptr<const driver::Context>& context(
      const Runtime& runtime) noexcept;
  [[nodiscard]] static Runtime::Impl& open(Runtime& runtime) noexcept { return *runtime.impl_; }
  [[nodiscard]] static Compiler::Impl& open(Compiler& compiler) noexcept { return *compiler.impl_; }
  /// A kernel with these values bound to its symbols.
  [[nodiscard]] static Kernel bind(const Kernel& kernel, SymbolValues values);
  /// The bound values; null for a kernel that is no fallback.
  [[nodiscard]] static const std::shared_ptr<const SymbolValues>& bound_of(
      const Kernel& kernel) noexcept {
    return kernel.bound_;
  }
  /// `symbols` together with those that are bound. Throws Error{invalid_argument} for one that is
  /// in both.
  [[nodiscard]] static SymbolValues completed(const SymbolValues& bound,
                                              const SymbolValues& symbols);
  /// Makes a Kernel from a loaded library; `launch` is the launch plan of `plan`. Throws as Binder.
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
  /// Implements Kernel::bind.
  [[nodiscard]] static BoundLaunch make_bound(const Kernel& kernel, std::span<const Argument> args,
                                              const SymbolValues& symbols,
                                              const LaunchOptions& options);
  /// What a Runtime launches first: with CompileEffort::tiered the quick build, unless the cache
  /// has the full one. Throws as Compiler::compile.
  struct FirstBuild {
    Artifact artifact;
    operation::Plan plan;  ///< of `artifact`; a light plan if a quick build has one
    bool quick = false;
  };
  [[nodiscard]] static FirstBuild first_build(Compiler& compiler, const Operation& op,
                                              const front::Planned& planned);
  /// Compiles the full build of a quick one in the background, and gives it to `kernel` and its
  /// copies. Warns if that fails.
  static void replace_later(Runtime::Impl& runtime, const Kernel& kernel,
                            const front::Planned& planned);
};

}  // namespace tilejit::launch
