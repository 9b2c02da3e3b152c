#pragma once

#include "atoms/mma_atom.hpp"
#include "atoms/shared_tile.hpp"
#include "tilejit/swizzle.hpp"

namespace tilejit::atoms {

/// Where the elements of an operand of mma.sync lie in shared memory: (row, k) -> element, for
/// `rows` rows along M of A or N of B, and `depth` elements along K. Neither the loads of fragments
/// (tile/fragments.cuh) nor copies of 16 bytes along the major dimension have bank conflicts,
/// except for 8-bit elements with Major::mn, which no instruction reads well.
///
/// Throws Error{invalid_layout} unless the extents are powers of two that hold whole instructions,
/// and the contiguous one has 32 bytes or more; Error{unsupported} for wgmma.
[[nodiscard]] ComposedLayout warp_tile(const MmaAtom& atom, Operand operand, Major major, int rows,
                                       int depth);

}  // namespace tilejit::atoms
