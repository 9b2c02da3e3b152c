#pragma once

#include <optional>
#include <vector>

#include "plan/plan.hpp"

namespace tilejit::plan {

inline constexpr int kMaxTileThreads = 256;

/// The mode along which most bytes of the operands that do not take mode 0 in vectors are
/// contiguous, if such operands exist: worth a pass through shared memory.
[[nodiscard]] std::optional<std::size_t> find_cross_mode(const std::vector<Operand>& operands,
                                                         const std::vector<Dim>& extents);

/// A tile along mode 0 and `mode` whose crossed operands fit in shared memory. Sides of two
/// 128-byte lines in the narrowest of them, of one where there would be few tiles; where an extent
/// is shorter the other side is longer. At least one square of `vector` by `vector` elements a
/// thread of a warp.
[[nodiscard]] Tile choose_tile(const std::vector<Operand>& operands,
                               const std::vector<Dim>& extents, std::size_t mode, int vector);

/// Bytes of shared memory that the crossed operands take.
[[nodiscard]] std::int64_t shared_bytes(const std::vector<Operand>& operands, const Tile& tile);

}  // namespace tilejit::plan
