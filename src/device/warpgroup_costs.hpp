#pragma once

namespace tilejit::device {

/// What products of warpgroups (wgmma) cost, in clocks of a multiprocessor: fitted to launches on
/// an H100, of 64 to 256 rows and 128 to 256 columns a tile. docs/planning.md has the formula.
struct WarpgroupCosts {
  double launch = 10500;            ///< of a launch, whatever it multiplies
  double sums_in_clock = 32;        ///< of a tile and 128 bytes of K: rows times columns per clock
  double beside_products = 1.01;    ///< what is lost between products
  double alone = 38;                ///< more per instruction if one warpgroup multiplies
  double of_two = 1.05;             ///< times that, if a warpgroup has 128 rows
  double before_tile = 2000;        ///< the start of the ring
  double of_sums = 600;             ///< the formula, of 128 by 256 sums
  double through_vectors = 3;       ///< times that, if sums go through shared memory
  double turned = 4;                ///< and that, if vectors of the result lie along M
  double of_split = 1200;           ///< that blocks of a cluster add their sums
  double gathered_in_clock = 24;    ///< bytes of sums that come from other blocks
  double bytes_in_clock = 1500;     ///< that all multiprocessors read from memory
  double beside_memory = 1.0 / 16;  ///< of the products' clocks, if memory takes longer
  /// Power: more clocks for each element that is brought to shared memory per multiplication.
  double of_traffic = 16;
  // Of products by the tensor cores of warps, to compare with.
  double launch_of_warps = 9000;
  double memory_of_warps = 1.5;  ///< times the clocks that memory takes
};

}  // namespace tilejit::device
