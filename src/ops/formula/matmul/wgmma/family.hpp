#pragma once

#include <cstdint>
#include <string_view>

#include "matmul/family.hpp"

namespace tilejit::plan {

/// By warpgroups of sm_90a, which read both operands from shared memory, where tensor maps bring
/// them. `tile.stages` are those of the ring; `tile.warps_m` are the warps that multiply, beside
/// which a block has four for the copies. Blocks of a cluster have tiles below and beside each
/// other, or the same tile and a part of K each.
///
/// A pair shares `a`. Its tiles of B lie in a stage one behind the other, and an instruction
/// multiplies both: `tile.n` columns of the result are `columns()` of the instruction.
struct MatmulWgmma : Matmul {
  static constexpr std::string_view kTemplate = "matmul_wgmma";
  atoms::MmaAtom atom;
  int cluster = 1;  ///< blocks that share the columns of B, for each part of K (`splits`)
  int beside = 1;   ///< blocks that share the rows of A
  int panel = 64;   ///< columns of sums that a warp hands to the formula at once
  /// Outputs of 16 bits, made from pairs of sums as they lie in registers; only results then go
  /// through shared memory. 0: sums do, and the formula takes whole vectors; or there are only
  /// reductions.
  int words = 0;
  bool alike = true;  ///< operands of the formula are alike in all rows; of `words` only
  /// Each warpgroup has a tile of its own, and finishes it while the other one multiplies.
  bool takes_turns = false;
  bool swapped = false;  ///< `a` is the right operand, transposed, and `b` the left one
  /// Rows of an operand's boxes, if it lies along K; 0: all that a block brings.
  int box_rows_a = 0, box_rows_b = 0;
  bool operator==(const MatmulWgmma&) const = default;

  void choose_launch(Plan& plan, const Tuning& tuning);
  [[nodiscard]] std::int64_t unit_extent(const Plan& plan, std::size_t m) const noexcept;
  void write_json(core::JsonLine& line) const;

  [[nodiscard]] int consumers() const noexcept { return tile.warps_m / 4; }
  [[nodiscard]] int threads() const noexcept { return 128 * (consumers() + 1); }
  [[nodiscard]] int blocks_of_cluster() const noexcept { return cluster * beside * splits; }
  [[nodiscard]] int columns() const noexcept { return tile.n * products(); }
  /// Whether the formula takes pairs of sums as they lie in registers.
  [[nodiscard]] bool by_words() const noexcept { return words > 0 || !reductions.empty(); }
  /// Whether warps load A into registers (tile/operand_along_m.cuh).
  [[nodiscard]] bool loads_a() const noexcept { return atom.a_source == atoms::ASource::registers; }
};

/// How an operand's tile lies in shared memory.
[[nodiscard]] atoms::SharedTile shared_tile(const MatmulWgmma& product, atoms::Operand operand);
/// The boxes of which a tile consists, one after another: first along K, then along M or N. Each
/// has `extent` elements along the latter and `depth` along K.
struct BoxesOfTile {
  int count = 1;
  int extent = 0, depth = 0;
};
[[nodiscard]] BoxesOfTile boxes_of(const MatmulWgmma& product, atoms::Operand operand);
/// The matrices of an operand, contiguous mode first, then the other one, then batches; and those
/// of the second product's own operand.
[[nodiscard]] operation::TensorMap tensor_map(const Plan& plan, const MatmulWgmma& product,
                                              atoms::Operand operand);
[[nodiscard]] operation::TensorMap second_tensor_map(const Plan& plan, const MatmulWgmma& product);
/// The index of the operand's tensor.
[[nodiscard]] inline int tensor_of(const MatmulWgmma& product, atoms::Operand operand) noexcept {
  return (operand == atoms::Operand::a) == product.swapped ? 1 : 0;
}
/// Bytes of a stage, and all of a block's shared memory, which is dynamic.
[[nodiscard]] int stage_bytes(const MatmulWgmma& product) noexcept;
/// How many panels of results take turns.
[[nodiscard]] int panels_of_words(const MatmulWgmma& product) noexcept;
[[nodiscard]] int sums_bytes(const MatmulWgmma& product) noexcept;
/// Bytes of sums that a block gets from those that share its tile, in the memory of its ring.
[[nodiscard]] int split_bytes(const MatmulWgmma& product) noexcept;
/// Tiles beside each other, for each of which a row has a partial result.
[[nodiscard]] std::int64_t tiles_along_n(const Plan& plan, const MatmulWgmma& product);
/// Sums of one product in a warp's panel (tile/sum_panel.cuh).
[[nodiscard]] int sums_of_panel(const MatmulWgmma& product) noexcept;
[[nodiscard]] int shared_bytes(const MatmulWgmma& product) noexcept;

}  // namespace tilejit::plan
