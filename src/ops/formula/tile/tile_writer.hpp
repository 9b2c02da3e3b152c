#pragma once

#include <set>

#include "render/tiles_writer.hpp"

namespace tilejit::render {

/// Writes the header for fused_tile.cu. Operands that are contiguous along another mode cross
/// shared memory in squares.
class TileWriter final : public TilesWriter {
 public:
  TileWriter(const plan::Plan& plan, const plan::Tile& tile, Budget& budget)
      : TilesWriter(plan, budget), tile_(tile) {}

 private:
  /// Data moves between global memory and squares, and between global memory and vectors.
  enum class Way : std::uint8_t { load, store };
  enum class Of : std::uint8_t { vector, square, cut };  ///< cut: by the edge of the space

  [[nodiscard]] std::vector<std::string_view> own_headers() const override {
    return {"shared_tile", "wide", "cut", "dependent"};
  }
  void write_constants() override;
  void write_behind_formula() override;
  [[nodiscard]] bool is_loaded(const plan::Operand& operand) const override;
  [[nodiscard]] bool is_stored(const plan::Operand& operand) const override;
  /// For transposed operands: line i of a square.
  [[nodiscard]] std::string variable_of(const plan::Operand& operand, bool loads) const override;
  [[nodiscard]] bool may_be_partial(const plan::Operand& operand) const override;

  void write_shared();
  void write_tile();
  void write_square();
  void write_vector();
  void write_square_store(Of of);
  /// Whether the edge of the space may cut squares off.
  [[nodiscard]] bool is_cut() const;
  /// Whether squares that are cut off take no other loads than whole ones: those of shifted vectors
  /// find neighbours in the tensor.
  [[nodiscard]] bool loads_one_way() const;
  /// Of squares that are cut off, some operands are moved to shared memory line by line: those that
  /// come by single elements, of which a square has too many for registers.
  [[nodiscard]] bool comes_by_elements(const plan::Operand& operand) const;
  [[nodiscard]] bool moves_elements() const;
  void write_cut_elements();
  [[nodiscard]] bool crosses(const plan::Operand& operand, Way way) const;
  /// The load of a vector that the edge of the space may cut off.
  [[nodiscard]] Code cut_load_of(const plan::Operand& operand) const;
  /// The loads or the stores of all operands that cross.
  [[nodiscard]] Code transposed_accesses(Way way, Of of);
  /// The same for each line of a square.
  [[nodiscard]] std::string lines_of_square(Way way, Of of);
  /// Declares the coordinates, in elements, that `accesses` asks for: those of a vector, or those
  /// of line i of a square.
  [[nodiscard]] std::string coordinates(const Code& accesses, Of of) const;

  const plan::Tile& tile_;
  Of of_ = Of::square;  ///< what accesses are written for
};

}  // namespace tilejit::render
