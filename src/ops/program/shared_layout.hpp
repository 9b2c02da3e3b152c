#pragma once

#include <cstdint>

#include "program/code.hpp"
#include "program/distribution.hpp"
#include "tilejit/swizzle.hpp"
#include "tilejit/tv.hpp"

namespace tilejit::program {

/// Where the elements of a tile lie in shared memory, unless the program says: row-major, with rows
/// swizzled or padded so that neither rows nor columns of 16 bytes meet in a bank.
[[nodiscard]] ComposedLayout shared_layout(const TileType& type);

/// The layout through which a tile gets from one distribution to another with the fewest passes
/// over the banks (bank_conflicts), of shared_layout and others with other swizzles and paddings.
[[nodiscard]] ComposedLayout exchange_layout(const TileType& type, const Distribution& from,
                                             const Distribution& to);
/// Passes over the banks that the first warp takes to access its first vector or two.
[[nodiscard]] BankConflicts accesses(const Distribution& of, const TileType& type,
                                     const ComposedLayout& layout);

/// Whether `count` neighbours along the last axis, from a multiple of `count` on, are neighbours in
/// memory that is aligned to them.
[[nodiscard]] bool keeps_vectors(const ComposedLayout& layout, const Extents& shape,
                                 std::int64_t count);

}  // namespace tilejit::program
