#pragma once

#include <vector>

#include "support/guarded_tensor.hpp"
#include "tilejit/fused.hpp"

namespace tilejit::test {

/// A random operation and values for its symbols and scalars.
struct RandomCase {
  Fused op;
  SymbolValues symbols;
  std::vector<Number> scalars;
};

/// A random formula over layouts of random rank, order and padding, some of them broadcast or
/// symbolic, with matching dtypes and one or two outputs, sometimes in place. Extents are small and
/// often ragged.
[[nodiscard]] RandomCase random_case(Random& random);

}  // namespace tilejit::test
