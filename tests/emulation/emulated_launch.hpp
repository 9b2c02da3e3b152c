#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "emulation/shape.hpp"
#include "operation/launch_plan.hpp"
#include "support/host_library.hpp"
#include "tilejit/fused.hpp"

namespace tilejit::test {

/// What an emulated launch is given.
struct EmulatedArguments {
  std::vector<void*> tensors;
  const std::vector<Number>& scalars;
  const SymbolValues& symbols;
};

/// Compiles `texts`, each of kernels, by the compiler that builds the tests. Null if that fails;
/// the message is shown.
[[nodiscard]] std::unique_ptr<const HostLibrary> compile_emulated(const std::string& text);

/// Text that exports `entry`, a kernel in namespace `space`, for run_emulated, as `name`.
[[nodiscard]] std::string exported(const std::string& name, const std::string& space,
                                   const std::string& entry);

/// The parameter struct of a step as the runtime packs it. A tensor map is an
/// emulation::TensorMap.
class PackedParams {
 public:
  PackedParams(const operation::Step& step, const EmulatedArguments& arguments,
               const std::vector<std::byte*>& workspaces);
  [[nodiscard]] const void* data() const noexcept { return bytes_.get(); }

 private:
  struct Free {
    void operator()(std::byte* bytes) const noexcept;
  };
  std::unique_ptr<std::byte[], Free> bytes_;
};

/// Memory that launches of a plan need for themselves.
class EmulatedWorkspaces {
 public:
  EmulatedWorkspaces(const operation::LaunchPlan& plan, const SymbolValues& symbols);
  [[nodiscard]] std::vector<std::byte*> addresses();

 private:
  std::vector<std::vector<std::byte>> memory_;
};

/// The shape of a step's launch; no blocks if there is nothing to do.
[[nodiscard]] emulation::Shape shape_of(const operation::Step& step, const SymbolValues& symbols,
                                        unsigned seed);

/// Runs an exported kernel. Returns what is wrong with it; empty if nothing is.
[[nodiscard]] std::string run_emulated(const HostLibrary& library, const std::string& name,
                                       const void* params, const emulation::Shape& shape);

}  // namespace tilejit::test
