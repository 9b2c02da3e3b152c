#pragma once

namespace tilejit::device {

/// What products of warpgroups (wgmma) cost, in clocks of a multiprocessor: fitted to launches on
/// an H100 (bench/tile_choice.py) so that the tiles they rank first are fast ones.
/// docs/planning-rules.md has the formula.
struct WarpgroupCosts {
  double launch = 3250;                ///< of a launch, whatever it multiplies
  double of_sharing = 51;              ///< if blocks of a cluster share operands
  double sharing_beside_splits = 5.7;  ///< times that, beside splits
  double of_many_waves = 1.1;  ///< times the products' clocks, of more than two blocks that share
  double of_waves_of_split_rows = 1.05;  ///< of several waves, if rows do not begin at 128 bytes
  double before_product = 27;            ///< of an instruction whose operands shared memory delays
  double of_two = 1.1;           ///< times the products' clocks, if a warpgroup has 128 rows
  double of_turns = 0.9;         ///< times that, if warpgroups take turns
  double alone = 3.1;            ///< more of an instruction, if one warpgroup multiplies
  double of_statistic = 250;     ///< to reduce 64 rows of a step beside the product
  double statistic_alone = 0.7;  ///< the part of it that is not beside the only warpgroup's product
  double of_traffic = 0.28;      ///< more clocks for each element loaded per multiplication
  double level2_in_clock = 7700;  ///< bytes that all multiprocessors get of the L2 cache
  double level2_of_clusters_in_clock = 4600;  ///< if clusters ask for the same at once
  double ring = 200e3;                        ///< bytes of stages in shared memory
  double loaded_in_clock = 103;               ///< bytes that one of them gets
  double asked_in_clock = 1.84;               ///< rows of 128 bytes for which a multiprocessor asks
  double level2_of_split_rows = 1.45;  ///< times the bytes, if rows do not begin at 128 bytes
  double asked_of_split_rows = 4.66;   ///< times the clocks of these
  double before_tile = 210;            ///< the start of the ring
  double of_sums = 1250;               ///< to store 128 by 256 sums
  double turned_words = 1.03;          ///< times that, if results lie along M
  double through_vectors = 5200;       ///< instead, if sums go through shared memory
  double turned = 5300;                ///< or if these vectors of the result lie along M
  double of_formula = 340;          ///< and for each addition of the formula, or what costs as much
  double not_hidden = 0.35;         ///< the part of it that other warpgroups do not hide in turns
  double of_split = 280;            ///< that blocks of a cluster add their sums
  double gathered_in_clock = 9.98;  ///< bytes of sums that come from other blocks
  double bytes_in_clock = 2400;     ///< that all multiprocessors read from memory
  double beside_memory = 0.11;      ///< of the shorter one of products and memory
  double read_again = 0.72;         ///< of a large operand's time in memory
  double large = 8e6;               ///< bytes of an operand of which half of that counts
  // Of products by the tensor cores of warps, to compare with.
  double launch_of_warps = 3270;
  double launch_of_copy = 4500;  ///< of an operand, before the product
  double split_of_warps = 1.5;   ///< times the clocks of tiles that several blocks share
  double memory_of_warps = 1.5;  ///< times the clocks that memory takes
};

}  // namespace tilejit::device
