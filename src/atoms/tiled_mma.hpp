#pragma once

#include <cstdint>

#include "atoms/mma_atom.hpp"
#include "tilejit/layout.hpp"

namespace tilejit::atoms {

/// Extents along M, N and K.
struct Extents {
  int m = 1, n = 1, k = 1;
  bool operator==(const Extents&) const = default;
};

/// An instruction repeated over warps, or warpgroups, and then over a tile: CuTe's TiledMMA. A
/// value.
struct TiledMma {
  MmaAtom atom;
  Extents groups = {};  ///< warps of mma.sync or warpgroups of wgmma
  Extents tile = {};    ///< elements; multiples of atom times groups
  bool operator==(const TiledMma&) const = default;
};

[[nodiscard]] int threads(const TiledMma& mma) noexcept;
/// (thread, (value, (repetitions along rows, along columns))) -> element of the tile, in the order
/// of `layout(atom, operand)`: m + tile.m * k of A, and so on. Groups are numbered along M first,
/// then N, then K; those that differ in a dimension that the operand lacks hold the same elements.
/// Throws Error{invalid_layout} if the tile is no multiple of atom times groups.
[[nodiscard]] Layout layout(const TiledMma& mma, Operand operand);

}  // namespace tilejit::atoms
