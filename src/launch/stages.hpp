#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "launch/kernel_impl.hpp"

namespace tilejit::launch {

/// The kernels of a plan that takes several (plan::Plan::stages), and what is between them.
class Stages {
 public:
  /// `library` is of `plan`, and lives as long as this. Throws as Binder.
  Stages(const Library& library, const Artifact& artifact, const Fused& op,
         const spec::Analysis& analysis, const plan::Plan& plan);

  /// Launches one after another. `params` are those of the whole plan, checked; `attributes` has
  /// been checked, too. Throws Error{driver_call}, Error{unsupported} as a Binder, or for more
  /// memory than 2^63-1 bytes.
  void launch(Stream stream, const std::byte* params, const LaunchAttributes& attributes) const;
  /// The most that any of them takes, and the fewest blocks.
  [[nodiscard]] KernelInfo info() const;

 private:
  struct Copy {
    int from = 0, to = 0, bytes = 0;
  };
  struct Stage {
    std::unique_ptr<const Kernel::Impl> kernel;
    std::vector<int> tensors;   // plan::Plan::tensors
    std::vector<Copy> scalars;  // of the whole plan's parameters to the stage's
  };

  [[nodiscard]] SymbolValues symbols_of(const std::byte* params) const;
  /// Where the temporaries lie in their memory, and its size last.
  [[nodiscard]] std::vector<std::int64_t> place(const SymbolValues& symbols) const;

  const Library& library_;
  std::vector<Stage> stages_;
  std::vector<plan::Temporary> temporaries_;
  std::vector<int> pointers_;                         // a tensor: its offset in the parameters
  std::vector<std::pair<std::string, int>> symbols_;  // name, offset
};

}  // namespace tilejit::launch
