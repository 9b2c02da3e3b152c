#pragma once

#include <cstdint>

#include "support/random_case.hpp"

namespace tilejit::test {

/// Extents up to 150, batches and K = 0 among them; or up to 3000.
enum class ProductExtents : std::uint8_t { small, large };

/// A random formula with a product of matrices: types, batches, layouts in any order and with gaps,
/// transposed names, symbols, operands that are computed, what stands around the product, up to two
/// outputs, reductions of it, chains. Extents are often ragged.
[[nodiscard]] RandomCase random_product(Random& random);

/// The same for operands of types `a` and `b`, which a product may have.
[[nodiscard]] RandomCase random_product(Random& random, DType a, DType b,
                                        ProductExtents extents = ProductExtents::small);

/// Other values for the symbols of such a case.
void change_symbols(RandomCase& product, Random& random, ProductExtents extents);

/// A product of small extents with a random elementwise formula around it, of functions, operators
/// and tensors that repeat along its axes.
[[nodiscard]] RandomCase random_epilogue(Random& random);

}  // namespace tilejit::test
