#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "atoms/mma_atom.hpp"
#include "tilejit/dim.hpp"
#include "tilejit/dtype.hpp"
#include "tilejit/target.hpp"

namespace tilejit::plan {

/// What a block multiplies in one step, and how its warps share that.
struct TileShape {
  int m = 0, n = 0, k = 0;  ///< elements: powers of two
  int warps_m = 1, warps_n = 1;
  int stages = 2;  ///< tiles of A and B in shared memory
  int blocks = 1;  ///< on a multiprocessor at once, for which registers and shared memory are kept
  bool operator==(const TileShape&) const = default;

  [[nodiscard]] int threads() const noexcept { return 32 * warps_m * warps_n; }
};

/// The tile of a launch, and how many blocks share it.
struct TileChoice {
  TileShape shape;
  int splits = 1;
  double clocks = 0;  ///< that a launch takes
};

/// The size of a product; without a number: large.
struct ProductSize {
  std::optional<std::int64_t> m, n, k, batch;
};

/// A tile that is tried: FLOP in a clock of a multiprocessor that is full of its blocks.
struct ShapeOfClass {
  TileShape shape;
  int flop_in_clock = 1;
};

/// The tiles that there are for an instruction of tensor cores; or without them, for sums of that
/// type.
[[nodiscard]] std::span<const ShapeOfClass> tensor_core_shapes(const atoms::MmaAtom& atom,
                                                               const Target& target) noexcept;
[[nodiscard]] std::span<const ShapeOfClass> simt_shapes(DType accumulator) noexcept;

/// A small tile, for kernels that have little code.
inline constexpr TileShape kLightTile{.m = 64, .n = 64, .k = 8, .warps_m = 2, .warps_n = 2};

/// The shape as far as the target has shared memory for it: else shorter steps, then fewer blocks,
/// then fewer stages. `bytes_along_k` is what a stage takes for each element along K.
[[nodiscard]] TileShape fit(TileShape shape, const Target& target, int bytes_along_k);

/// The cheapest shape by the clocks that all of a multiprocessor's tiles take,
///     tiles * FLOP of a tile / rate + rounds * (start + end)
/// where tiles and rounds are those of the fullest multiprocessor, a few warps alone are slower,
/// and partial sums cost their way through memory. K is split only if every extent is known.
[[nodiscard]] TileChoice choose_tile(std::span<const ShapeOfClass> shapes, const ProductSize& size,
                                     std::optional<int> splits);

}  // namespace tilejit::plan
