#pragma once

namespace tilejit::device {

/// What products of warpgroups (wgmma) cost, in clocks of a multiprocessor: fitted to launches on
/// an H200 (bench/tile_choice.py), of all tiles that there are. docs/planning.md has the formula.
struct WarpgroupCosts {
  double launch = 2900;                ///< of a launch, whatever it multiplies
  double of_sharing = 200;             ///< if blocks share columns; twice that beside splits
  double before_product = 12;          ///< of an instruction whose operands shared memory delays
  double of_two = 1.03;                ///< times the products' clocks, if a warpgroup has 128 rows
  double of_turns = 1.02;              ///< times that, if warpgroups take turns
  double alone = 7;                    ///< more of an instruction, if one warpgroup multiplies
  double of_statistic = 250;           ///< to reduce 64 rows of a step beside the product
  double of_traffic = 10;              ///< more clocks for each element loaded per multiplication
  double level2_in_clock = 7100;       ///< bytes that all multiprocessors get of the L2 cache
  double loaded_in_clock = 120;        ///< bytes that one of them gets
  double level2_of_split_rows = 1.67;  ///< times the bytes, if rows do not begin at 128 bytes
  double loaded_of_split_rows = 2.46;  ///< times the bytes that one multiprocessor gets
  double before_tile = 300;            ///< the start of the ring
  double of_sums = 3500;               ///< to store 128 by 256 sums
  double of_formula = 340;        ///< and for each addition of the formula, or what costs as much
  double through_vectors = 1.5;   ///< times that, if sums go through shared memory
  double turned = 1.55;           ///< or if vectors of the result lie along M
  double not_hidden = 0.35;       ///< the part of it that other warpgroups do not hide in turns
  double of_split = 1200;         ///< that blocks of a cluster add their sums
  double gathered_in_clock = 17;  ///< bytes of sums that come from other blocks
  double bytes_in_clock = 2400;   ///< that all multiprocessors read from memory
  double beside_memory = 0.24;    ///< of the shorter one of products and memory
  double read_again = 0.25;       ///< of a large operand's time in memory
  double large = 8e6;             ///< bytes of an operand of which half of that counts
  // Of products by the tensor cores of warps, to compare with.
  double launch_of_warps = 3000;
  double launch_of_copy = 4500;  ///< of an operand, before the product
  double split_of_warps = 1.5;   ///< times the clocks of tiles that several blocks share
  double memory_of_warps = 1.5;  ///< times the clocks that memory takes
};

}  // namespace tilejit::device
