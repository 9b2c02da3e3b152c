#pragma once

#include <cstdint>

#include "program/code.hpp"
#include "tilejit/swizzle.hpp"

namespace tilejit::program {

/// Where the elements of a tile lie in shared memory, unless the program says: row-major, with rows
/// swizzled or padded so that neither rows nor columns of 16 bytes meet in a bank.
[[nodiscard]] ComposedLayout shared_layout(const TileType& type);

/// Whether `count` neighbours along the last axis, from a multiple of `count` on, are neighbours in
/// memory that is aligned to them.
[[nodiscard]] bool keeps_vectors(const ComposedLayout& layout, const Extents& shape,
                                 std::int64_t count);

}  // namespace tilejit::program
