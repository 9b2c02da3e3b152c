#pragma once

#include <cstdint>

#include "tilejit/layout.hpp"

namespace tilejit {

// All functions below are pure and thread-safe. Their cost grows with the number of leaves (times
// the depth, if coordinate and layout are not nested alike), not with sizes. A coordinate whose
// tuples are not the layout's, a `_` where an integer is needed, an index below 0 and an extent of
// 0 are Error{invalid_layout}; a symbol or '?' that is needed, and results beyond 2^63-1, are
// Error{unsupported}.

/// What Layout(shape, stride) gives at `coordinate`, without a check of the domain: as in CuTe, an
/// integer wraps in each mode except the last, which goes on beyond its extent.
[[nodiscard]] std::int64_t crd2idx(const Coordinate& coordinate, const IntTuple& shape,
                                   const IntTuple& stride);
/// The colexicographic number of the coordinate.
[[nodiscard]] std::int64_t crd2idx(const Coordinate& coordinate, const IntTuple& shape);

/// The coordinate, nested as `shape`, of a colexicographic number. The last leaf is not wrapped.
[[nodiscard]] Coordinate idx2crd(std::int64_t index, const IntTuple& shape);
/// The same for each integer of a coordinate that stands for a tuple.
[[nodiscard]] Coordinate idx2crd(const Coordinate& coordinate, const IntTuple& shape);
/// (index / stride) % extent for each leaf, 0 if the extent is 1: the coordinate of an index, if
/// the layout is compact. Throws Error{invalid_layout} for a stride of 0 with another extent.
[[nodiscard]] Coordinate idx2crd(std::int64_t index, const IntTuple& shape, const IntTuple& stride);

/// The coordinate of an index, as idx2crd of shape and stride: nested as the layout, with one
/// integer for each mode (one leaf for rank 1), or as one integer.
[[nodiscard]] Coordinate get_hier_coord(std::int64_t index, const Layout& layout);
[[nodiscard]] Coordinate get_flat_coord(std::int64_t index, const Layout& layout);
[[nodiscard]] std::int64_t get_1d_coord(std::int64_t index, const Layout& layout);

/// What a coordinate with `_` leaves of a layout.
struct Slice {
  Layout layout;
  std::int64_t offset = 0;  ///< of its first element
};
/// A tuple of the modes where `coordinate` is `_`, whatever its nesting (all of the layout for a
/// `_` alone), and the index of the other integers. Throws Error{invalid_layout} without a `_`.
[[nodiscard]] Slice slice(const Coordinate& coordinate, const Layout& layout);
/// A tuple of the other modes: those where `coordinate` is an integer (all of the layout for an
/// integer alone). Throws Error{invalid_layout} if there is none.
[[nodiscard]] Layout dice(const Coordinate& coordinate, const Layout& layout);

}  // namespace tilejit
