#pragma once

namespace tilejit::device {

/// What products of warpgroups (wgmma) cost, in clocks of a multiprocessor: fitted to launches on
/// an H100, of 64 to 256 rows and 128 to 256 columns a tile. docs/planning.md has the formula.
struct WarpgroupCosts {
  double launch = 10500;            ///< of a launch, whatever it multiplies
  double sums_in_clock = 32;        ///< of a tile and 128 bytes of K: rows times columns per clock
  double beside_products = 1.01;    ///< what is lost between products
  double alone = 38;                ///< more per instruction if one warpgroup multiplies
  double around_tile = 2600;        ///< of 128 by 256 sums: the start of the ring, and the formula
  double turned_around = 3;         ///< times that, if vectors of the result lie along M
  double bytes_in_clock = 1500;     ///< that all multiprocessors read from memory
  double beside_memory = 1.0 / 16;  ///< of the products' clocks, if memory takes longer
  /// Power: more clocks for each element that is brought to shared memory per multiplication.
  double of_traffic = 16;
  double clocks_of_family = 9000;  ///< of a launch of other kernels, where this has `launch`
};

}  // namespace tilejit::device
