#pragma once

#include <optional>
#include <vector>

#include "plan/plan.hpp"
#include "tilejit/swizzle.hpp"

namespace tilejit::plan {

inline constexpr int kMaxTileThreads = 256;

/// The mode that is worth a pass through shared memory, if any. Of the operands that are not
/// accessed in vectors along mode 0, the most bytes are contiguous along this mode.
[[nodiscard]] std::optional<std::size_t> find_transposed_mode(const std::vector<Operand>& operands,
                                                              const std::vector<Dim>& extents);

/// A tile along mode 0 and `mode` whose transposed operands fit in shared memory. Its sides are two
/// 128-byte lines of the narrowest transposed operand, or one line if there would be few tiles. If
/// an extent is shorter than its side, the other side is longer. A tile has at least one square of
/// `vector` by `vector` elements for each thread of a warp.
[[nodiscard]] Tile choose_tile(const std::vector<Operand>& operands,
                               const std::vector<Dim>& extents, std::size_t mode, int vector);

/// Bytes of shared memory that the transposed operands take.
[[nodiscard]] std::int64_t shared_bytes(const std::vector<Operand>& operands, const Tile& tile);

/// Where a vector of a transposed operand's tile lies in shared memory, in vectors: a layout of
/// columns of vectors by rows of elements. Vectors are swizzled by the row of squares: if rows have
/// at least 128 bytes, neither writing lines of squares nor reading vectors of a row then causes
/// bank conflicts. The lines of a square stay one row apart.
[[nodiscard]] ComposedLayout shared_layout(const Tile& tile, int vector);

}  // namespace tilejit::plan
