#pragma once

#include "render/header_writer.hpp"

namespace tilejit::render {

/// Writes what all templates need whose blocks take a tile. Coordinates count elements.
class TilesWriter : public HeaderWriter {
 protected:
  using HeaderWriter::HeaderWriter;
  [[nodiscard]] bool stores_wide(const plan::Operand&) const final { return true; }
  [[nodiscard]] std::string coordinate(std::size_t m) const final;
  /// Whether the operand crosses shared memory.
  [[nodiscard]] static bool is_transposed(const plan::Operand& operand) {
    return operand.reach == plan::Reach::transposed;
  }
  /// Whether every tile has all of its elements along mode `m`.
  [[nodiscard]] bool is_whole(std::size_t m) const;
  /// Write where a tile's first element lies: the members of a struct Tile, and the lines that take
  /// the tile's number t apart. Tiles are numbered along mode 0 first.
  void write_members();
  void write_origin();
};

}  // namespace tilejit::render
