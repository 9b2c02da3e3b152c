#pragma once

#include <span>
#include <string>

#include "tilejit/tensor.hpp"

namespace tilejit::operation {

/// Dtypes and extents of `tensors`, known extents by the power of two from them on: what is alike
/// in it is likely to want the same knobs. A part of tuning classes.
[[nodiscard]] std::string tensor_class(std::span<const Tensor> tensors);

}  // namespace tilejit::operation
