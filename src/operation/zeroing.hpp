#pragma once

#include <string>

#include "operation/launch_plan.hpp"
#include "tilejit/target.hpp"
#include "tilejit/tensor.hpp"

namespace tilejit::operation {

/// The step that sets a tensor to 0, element by element, before another kernel: tensor `index` of
/// the signature, by the kernel `entry`.
[[nodiscard]] Step zero_step(const std::string& entry, const Tensor& tensor, int index);
/// The CUDA text of that kernel. It needs no header.
[[nodiscard]] std::string zero_kernel(const std::string& entry, const Tensor& tensor,
                                      const Target& target);

}  // namespace tilejit::operation
