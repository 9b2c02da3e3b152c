#pragma once

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
  enum class Of : std::uint8_t { vector, square };

  [[nodiscard]] std::vector<std::string_view> own_headers() const override {
    return {"shared_tile", "wide", "dependent"};
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
  void write_square_store();
  /// Writes how the existing elements of a square at the edge move between global and shared
  /// memory.
  void write_elements(Way way);
  [[nodiscard]] bool crosses(const plan::Operand& operand, Way way) const;
  /// The loads or the stores of all operands that cross.
  [[nodiscard]] Code transposed_accesses(Way way) const;
  /// Declares the coordinates, in elements, that `accesses` asks for: those of a vector, or those
  /// of line i of a square.
  [[nodiscard]] std::string coordinates(const Code& accesses, Of of) const;

  const plan::Tile& tile_;
};

}  // namespace tilejit::render
