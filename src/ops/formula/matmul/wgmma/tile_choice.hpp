#pragma once

#include <optional>
#include <vector>

#include "matmul/tile_shape.hpp"
#include "wgmma/family.hpp"

namespace tilejit::plan {

/// A tile of warpgroups, and what a launch with it takes. Of a pair, it has `n` columns of each
/// product.
struct WgmmaTile {
  int m = 0, n = 0;
  int consumers = 1;
  int cluster = 1, beside = 1;  ///< as of MatmulWgmma
  int splits = 1;               ///< parts of K
  bool swapped = false;
  bool takes_turns = false;  ///< each warpgroup has a tile of its own
  double clocks = 0;
};

/// What a choice depends on. Majors are those of the two operands as they are written.
struct WgmmaProblem {
  ProductSize size;
  int element_bytes = 2;
  int output_bytes = 2;
  atoms::Major a = atoms::Major::k, b = atoms::Major::k;
  bool a_split = false, b_split = false;  ///< rows in memory do not begin at multiples of 128 bytes
  std::int64_t formula = 0;               ///< additions, or what costs as much, of an element
  bool integer = false;          ///< sums are i32, which limits the columns of an instruction
  int multiple = 8;              ///< of a tile's columns, for whole vectors
  bool along_m = false;          ///< vectors of the result lie along M
  bool through_vectors = false;  ///< sums go through shared memory, as of 32-bit outputs
  bool turned_through_vectors = false;  ///< and if vectors lie along a tile's rows
  int products = 1;                     ///< 2: a pair
  bool statistic = false;               ///< warpgroups reduce whole rows of their operand beside it
  bool loads_a = false;  ///< the kernel's A goes through registers (tile/operand_along_m.cuh)
  /// Whether operands are exchanged, if there is no choice: a pair shares what becomes the left
  /// one.
  std::optional<bool> swapped = {};
  Target target;
};

/// What memory takes to give the operands once, and to take the result.
[[nodiscard]] double memory_clocks(const WgmmaProblem& problem);

/// All tiles, cheapest first, by the formula of docs/planning-rules.md
/// (device/warpgroup_costs.hpp). Of tiles that cost the same, the larger one is first.
[[nodiscard]] std::vector<WgmmaTile> ranked_tiles(const WgmmaProblem& problem);

}  // namespace tilejit::plan
