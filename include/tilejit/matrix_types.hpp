#pragma once

#include <compare>

#include "tilejit/dtype.hpp"

namespace tilejit {

/// Types of the operands of a product of matrices.
struct MatrixTypes {
  DType a = f32, b = f32;
  auto operator<=>(const MatrixTypes&) const = default;
};

}  // namespace tilejit
