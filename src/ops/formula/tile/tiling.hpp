#pragma once

#include <optional>
#include <vector>

#include "plan/plan.hpp"
#include "tilejit/swizzle.hpp"

namespace tilejit::plan {

inline constexpr int kMaxTileThreads = 256;

/// The mode that is worth a pass through shared memory, if any. Of the operands that are not
/// accessed in vectors along mode 0, the most bytes are contiguous along this mode. Only `merged`
/// columns may have several leaves.
[[nodiscard]] std::optional<std::size_t> find_transposed_mode(const std::vector<Operand>& operands,
                                                              const std::vector<Dim>& extents,
                                                              bool merged = false);

/// A tile along mode 0 and `mode` whose transposed operands fit in shared memory. Its sides are two
/// 128-byte lines of the narrowest transposed operand, or one line if there would be few tiles. If
/// an extent is shorter than its side, the other side is longer. A tile has at least one square of
/// `vector` by `vector` elements for each thread of a warp.
[[nodiscard]] Tile choose_tile(const std::vector<Operand>& operands,
                               const std::vector<Dim>& extents, std::size_t mode, int vector);

/// Whether the space is small, or both modes are so short that the accesses of a few warps find
/// each other's sectors in the L1 cache: then a map does as well, by fewer blocks and without a
/// barrier.
[[nodiscard]] bool is_small(const Tile& tile, const std::vector<Dim>& extents);

/// The tile that kernels take in its place: a smaller one if threads would have several squares and
/// multiprocessors room for more threads; and one with fewer columns if the last ones exist
/// nowhere, such as 4 of 16. Tiles that share the mode still begin on sectors. Rows may become
/// fewer, so that threads have equally many squares; else they stay, since warps skip those that do
/// not exist.
[[nodiscard]] Tile fitted_tile(const Tile& chosen, const std::vector<Operand>& operands,
                               const std::vector<Dim>& extents, int vector);

/// Whether so many threads count the tile's squares and vectors by whole rows and columns, or by
/// parts of one.
[[nodiscard]] bool count_whole_lines(const Tile& tile, int vector, int threads);

/// The most threads, whole warps, that have equally many squares of the tile and count whole lines
/// of it; nothing if no number suits.
[[nodiscard]] std::optional<int> threads_of_tile(const Tile& tile, int vector);

/// Bytes of an element of the narrowest transposed operand.
[[nodiscard]] int narrowest_transposed(const std::vector<Operand>& operands);

/// Bytes of shared memory that the transposed operands take.
[[nodiscard]] std::int64_t shared_bytes(const std::vector<Operand>& operands, const Tile& tile,
                                        int vector);

/// Where a vector of a transposed operand's tile lies in shared memory, in vectors: a layout of
/// columns of vectors by rows of elements, the lines of a square one row apart. Rows of squares are
/// an odd number of vectors apart, or vectors are swizzled by the row of squares if a row has a
/// power of two of them and, unless these are single elements, 128 bytes of `narrowest`, the bytes
/// of an element. Neither writing lines of squares nor reading rows then causes bank conflicts.
[[nodiscard]] ComposedLayout shared_layout(const Tile& tile, int vector, int narrowest);

}  // namespace tilejit::plan
