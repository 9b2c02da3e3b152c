#pragma once

#include "support/random_case.hpp"

namespace tilejit::test {

/// A random formula with a product of matrices: types, batches, layouts in any order and with gaps,
/// transposed names, symbols, operands that are computed, what stands around the product, up to two
/// outputs, reductions of it, chains. Extents are small and often ragged.
[[nodiscard]] RandomCase random_product(Random& random);

/// The same for operands of types `a` and `b`, which a product may have.
[[nodiscard]] RandomCase random_product(Random& random, DType a, DType b);

}  // namespace tilejit::test
