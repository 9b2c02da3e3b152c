#pragma once

#include <cstdint>
#include <optional>

#include "tilejit/layout.hpp"

namespace tilejit {

/// Other functions of CuTe, and those that planning needs. Pure and thread-safe; the cost grows
/// with the number of leaves, n, not with sizes: n^2 at most unless said otherwise. Extents and
/// strides may be symbols if the answer is the same for all their values, and are
/// Error{unsupported} otherwise. A request without an answer is Error{invalid_layout}, a number
/// outside its range Error{invalid_argument}; sizes beyond 2^63-1 are Error{unsupported}.

/// Extents become 1 at leaves of `profile` that are 0; other values do not matter, modes beyond it
/// stay. Unlike without a profile, strides of 0 do not count.
[[nodiscard]] Layout filter_zeros(const Layout& layout, const IntTuple& profile);
/// filter at each leaf of `profile`, whose integers do not matter; modes beyond it stay.
[[nodiscard]] Layout filter(const Layout& layout, const IntTuple& profile);

/// Where a layout is 0 by strides of 0: layout(N(i)) == 0 for 0 <= i < size(N), and size(N) is the
/// product of the extents of these leaves. One mode for each of them, extents of 1 included; 1:0
/// for none.
[[nodiscard]] Layout nullspace(const Layout& layout);

/// The largest R found with a(R(i)) == b(R(i)) == i for 0 <= i < size(R): where both layouts are
/// contiguous alike.
[[nodiscard]] Layout max_common_layout(const Layout& a, const Layout& b);
/// size(max_common_layout(a, b)).
[[nodiscard]] Dim max_common_vector(const Layout& a, const Layout& b);

/// The largest n known for which `layout` is made of contiguous, aligned vectors of n elements.
[[nodiscard]] std::int64_t max_alignment(const Layout& layout);
/// Every contiguous vector of a layout starts at a multiple of this: the largest power of two that
/// divides `offset` and all strides of extents other than 1, without the strides that continue the
/// first stride of 1, leaf by leaf. Vectors of w elements along that stride are aligned if w
/// divides this and the vector's length. Of a symbol, the known factor counts. 2^62 if all of these
/// are 0. Linear in n. Throws Error{invalid_argument} if `offset` is negative.
[[nodiscard]] std::int64_t common_alignment(const Layout& layout, std::int64_t offset = 0);
/// The length of the longest vector that a layout starts with, for certain: layout(i) == i for 0 <=
/// i < result, in the colexicographic order of coordinates, which does not find the vectors of a
/// row-major layout. At least 1; linear in n.
[[nodiscard]] Dim contiguous_vector(const Layout& layout);

/// No index is reached twice. Empty if that is not decided: symbols whose strides do not divide
/// each other in a chain, or three and more modes that interleave and would take more than 4096
/// steps; strides that each exceed the sum of what the smaller ones reach, or are all multiples of
/// a number that exceeds it, do not interleave. An empty layout is injective. Cost: n^3 for
/// symbols.
[[nodiscard]] std::optional<bool> is_injective(const Layout& layout);
/// Injective, with cosize(layout) == size(layout): every index below the size once. With symbols:
/// for all their values.
[[nodiscard]] bool is_compact(const Layout& layout);

/// Part of `shape` with up to `n` elements, as few as n and the extents have common factors:
/// ascending and injective indices into the column-major `shape`, whose extents are known.
[[nodiscard]] Layout domain_distribute(const IntTuple& shape, std::int64_t n);

/// The layout for elements of n old ones each: along stride 1, n consecutive ones become one.
/// Extents are rounded up. A known stride must divide n, or n the stride; n must divide the factor
/// of a symbolic one. Then n * upcast(layout)(c) == layout(c') for the first c' of each new
/// element, if n divides the extents too.
[[nodiscard]] Layout upcast(const Layout& layout, std::int64_t n);
/// The layout for elements n of which made an old one. Some stride must be 1.
[[nodiscard]] Layout downcast(const Layout& layout, std::int64_t n);
/// From elements of `old_bits` to elements of `new_bits`: upcast and downcast by the reduced ratio.
[[nodiscard]] Layout recast_layout(const Layout& layout, std::int64_t old_bits,
                                   std::int64_t new_bits);

/// The order in which a block is repeated.
enum class TileOrder {
  left,   ///< along the first mode first
  right,  ///< along the last mode first
};
/// `block` repeated up to `shape`, mode by mode: mode i of the result is (mode i of the block, its
/// repetitions) and has the size of mode i of `shape`, which that of the block divides. A block of
/// smaller rank is repeated along the modes it lacks.
[[nodiscard]] Layout tile_to_shape(const Layout& block, const IntTuple& shape,
                                   TileOrder order = TileOrder::left);
/// Along the mode with the smallest integer of `order` first; one integer per mode.
[[nodiscard]] Layout tile_to_shape(const Layout& block, const IntTuple& shape,
                                   const IntTuple& order);

}  // namespace tilejit
