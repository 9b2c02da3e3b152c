#pragma once

#include "matmul/family.hpp"
#include "tilejit/swizzle.hpp"

namespace tilejit::plan {

/// Where the elements of a tile of an operand lie in shared memory: (row, k) -> element, rows along
/// M of the left operand and N of the right one. Of the operand's type on tensor cores; else of the
/// sums' type, along rows, and a little apart, so that neighbours along K lie in other banks.
[[nodiscard]] ComposedLayout shared_layout(const MatmulMma& product, atoms::Operand operand);
[[nodiscard]] ComposedLayout shared_layout(const MatmulSimt& product, atoms::Operand operand);

/// Bytes of both tiles of a stage.
[[nodiscard]] int stage_bytes(const Matmul& product, bool by_tensor_cores) noexcept;
/// Bytes of the sums of a pass on their way through shared memory (tile/matmul.cuh, SumExchange).
[[nodiscard]] int exchange_bytes(const Matmul& product) noexcept;
/// The fewest passes whose sums need no more shared memory than the stages.
[[nodiscard]] int passes_of(const Matmul& product, bool by_tensor_cores) noexcept;

}  // namespace tilejit::plan
