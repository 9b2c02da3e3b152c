#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cuda/check.hpp"
#include "operation/launch_plan.hpp"
#include "operation/signature.hpp"
#include "tilejit/target.hpp"

namespace tilejit::cuda {

/// How a kernel of the caller's is compiled and launched on a target.
struct KernelPlan {
  std::shared_ptr<const Resolved> kernel;  ///< never null
  Target target;
  Checked checked;
  operation::Signature signature;
  std::vector<operation::Param> params;  ///< of the caller's kernel
  int params_bytes = 0;
};

/// Throws what `validate` throws, and Error{unsupported} for what no device of the target has.
[[nodiscard]] KernelPlan make_plan(std::shared_ptr<const Resolved> kernel, const Tuning& tuning,
                                   const Target& target);
/// Canonical JSON on one line: what the cubin and the loaded kernel depend on.
[[nodiscard]] std::string to_json(const KernelPlan& plan);
[[nodiscard]] operation::LaunchPlan launch_plan(const KernelPlan& plan);

/// The kernel that sets a tensor to 0, before the caller's: "histogram_zero_bins".
[[nodiscard]] std::string zero_entry(const KernelPlan& plan, const Tensor& tensor);
/// The tensors that are set to 0, in the order of `zeroed`.
[[nodiscard]] std::vector<const Tensor*> zeroed_tensors(const KernelPlan& plan);

}  // namespace tilejit::cuda
